import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { versions } from "../service.ts";
import { attacks } from "./attacks/index.ts";
import type { Result } from "./one.ts";

const USAGE = `npm run chaos -- abuse [--only ID]… [--seconds N] [--json]

Attacks a real service from loopback addresses, one attack after the other, beside healthy clients of four kinds.
  --only ID     only this attack, such as H3; may be given several times
  --seconds N   how long each is measured, without and with the attack (60)
  --json        everything that was measured, one attack a line
`;

export async function runAbuse(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (!options) return 2;
  const { only, seconds, isJson } = options;
  const chosen = attacks.filter(({ id }) => only.length === 0 || only.includes(id.toLowerCase()));
  if (!isJson) printHead(seconds);
  let status = 0;
  for (const { id, name } of chosen) {
    const result = await runOne(id, seconds);
    if (!result || result.faults.length > 0) status = 1;
    if (isJson) console.log(JSON.stringify(result ?? { id, name, faults: ["it did not finish"] }));
    else console.log(result ? rowOf(result) : `| ${id} ${name} | | | | | | | **it did not finish** |`);
  }
  return status;
}

function readOptions(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        only: { type: "string", multiple: true, default: [] },
        seconds: { type: "string", default: "60" },
        json: { type: "boolean", default: false },
      },
    });
    const only = values.only.map((id) => id.toLowerCase());
    const unknown = only.find((id) => !attacks.some((attack) => attack.id.toLowerCase() === id));
    if (unknown) throw new Error(`there is no attack "${unknown}"; there are ${attacks.map(({ id }) => id).join(", ")}`);
    const seconds = Number(values.seconds);
    if (!Number.isInteger(seconds) || seconds < 5 || seconds > 600) throw new Error("--seconds is a whole number from 5 to 600");
    return { only, seconds, isJson: values.json };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return undefined;
  }
}

async function runOne(id: string, seconds: number): Promise<Result | undefined> {
  const child = fork(join(import.meta.dirname, "one.ts"), [id, String(seconds)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let result: Result | undefined;
  child.on("message", (message) => (result = message as Result));
  const stop = () => child.kill("SIGTERM");
  process.once("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  await once(child, "exit");
  process.off("exit", stop);
  return result;
}

function printHead(seconds: number): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const [busy] = loadavg().map((each) => each.toFixed(1));
  const date = new Date().toISOString().slice(0, 10);
  console.log(
    `${date}, ${machine}, ${versions()}; ${seconds} s without and with each attack; load average ${busy} at the start\n`,
  );
  console.log(
    "| Attack | Worst kind | p50 / p99 undisturbed | p50 / p99 attacked | Healthy failed | Restarts | Web + git, worker, tasks | Disk | What the attacker got | |",
  );
  console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |");
}

function rowOf({ id, name, kinds, usage, idle, tally, got, faults }: Result): string {
  const worst = kinds.toSorted((a, b) => b.during.p99 / allowedOf(b) - a.during.p99 / allowedOf(a))[0];
  const failed = kinds.reduce((sum, { during }) => sum + Object.values(during.failed).reduce((all, count) => all + count, 0), 0);
  const sent = kinds.reduce((sum, { during }) => sum + during.count, 0);
  const requests = tally.answered + tally.refused + tally.failed;
  const words = [
    `${requests} requests: ${tally.answered} answered, ${tally.refused} refused, ${tally.failed} failed`,
    `${mib(tally.sentBytes)} sent, ${mib(tally.receivedBytes)} received`,
    `${Math.max(0, usage.cpuSeconds - idle.cpuSeconds)} s of CPU`,
    ...got,
  ];
  return `| ${[
    `${id}: ${name}`,
    worst?.kind,
    `${worst?.before.p50} / ${worst?.before.p99} ms`,
    `${worst?.during.p50} / ${worst?.during.p99} ms`,
    `${failed} of ${sent}`,
    usage.restarts,
    `${usage.webTreeMiB}, ${usage.workerMiB}, ${usage.tasksMiB} MiB`,
    `${usage.diskMiB} MiB`,
    words.join("; "),
    faults.length > 0 ? `**failed**: ${faults.join("; ")}` : "passed",
  ].join(" | ")} |`;
}

const allowedOf = ({ before }: Result["kinds"][number]): number => Math.max(2 * before.p99, 300);

const mib = (bytes: number): string =>
  bytes < 1024 ** 2 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
