// Runs inside a Space's sandbox, which has no network: starts the app, and once it listens takes connections for it on a socket in a
// folder that is shared with the outside. It is copied into that folder, and needs nothing but Node.
//
//   node bridge.mjs <port> <socket> <command> [argument...]
import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [port, socketPath, command, ...words] = process.argv.slice(2);
const PROBE_MS = 20;

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

const server = createServer({ allowHalfOpen: true }, (outside) => {
  const inside = connect({ port, host, allowHalfOpen: true });
  outside.on("error", () => inside.destroy());
  inside.on("error", () => outside.destroy());
  outside.on("close", () => inside.destroy());
  inside.on("close", () => outside.destroy());
  outside.pipe(inside).pipe(outside);
});

function probe() {
  const trial = connect({ port, host });
  trial.on("connect", () => {
    trial.destroy();
    // Whoever takes it on the other side may be another user of the machine; the folder is open to nobody else.
    server.listen(socketPath, () => chmodSync(socketPath, 0o777));
  });
  trial.on("error", () => {
    [host, other] = [other, host];
    setTimeout(probe, PROBE_MS);
  });
}
probe();
