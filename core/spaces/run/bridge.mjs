// Runs inside a Space's sandbox, and needs only Node. Usage: node bridge.mjs <port> <door> <command> [argument...]
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { constants } from "node:os";

const [port, door, command, ...words] = process.argv.slice(2);
const PROBE_MS = 20;
const OFFERS = 8;
const OPEN = Buffer.from([1]);

const app = spawn(command, words, { stdio: ["ignore", "inherit", "inherit"] });
app.on("error", (error) => {
  console.error(
    error.code === "ENOENT" ? `There is no command ${command} here.` : `${command} cannot be started: ${error.message}`,
  );
  process.exit(127);
});
app.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => app.kill(signal));

// An app may listen on either loopback.
let host = "127.0.0.1";
let other = "::1";

function offer() {
  let isTaken = false;
  const outside = connect({ path: door, allowHalfOpen: true });
  outside.on("error", () => outside.destroy());
  outside.on("close", () => {
    if (!isTaken) setTimeout(offer, PROBE_MS);
  });
  outside.on("readable", function take() {
    if (outside.read(1) === null) return;
    outside.off("readable", take);
    isTaken = true;
    offer();
    const inside = connect({ port, host, allowHalfOpen: true });
    inside.on("error", () => outside.destroy());
    outside.on("close", () => inside.destroy());
    inside.on("close", () => outside.destroy());
    inside.on("connect", () => {
      outside.write(OPEN);
      outside.pipe(inside).pipe(outside);
    });
  });
}

function probe() {
  const trial = connect({ port, host });
  trial.on("connect", () => {
    trial.destroy();
    for (let i = 0; i < OFFERS; i++) offer();
  });
  trial.on("error", () => {
    [host, other] = [other, host];
    setTimeout(probe, PROBE_MS);
  });
}
probe();
