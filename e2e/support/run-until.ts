import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = resolve(import.meta.dirname, "../..");
const START_MS = 240_000;

export type Run = {
  /** From the root of the project. */
  script: string;
  environment: Record<string, string>;
  /** Where its output goes. */
  log: string;
};

/** Starts a script of the project and resolves once it has printed `text`; returns how to stop it. */
export async function runUntil(text: string, { script, environment, log }: Run): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, [script], { cwd: ROOT, env: { ...process.env, ...environment } });
  const output = createWriteStream(log);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const isUp = await Promise.race([
    once(child.stdout, "close").then(() => false),
    untilPrinted(child, text),
    sleep(START_MS, false, { ref: false }),
  ]);
  if (!isUp) {
    await stop(child);
    throw new Error(`${script} did not get as far as "${text}":\n${readFileSync(log, "utf8")}`);
  }
  return { stop: () => stop(child) };
}

function untilPrinted({ stdout }: ChildProcess, text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let printed = "";
  stdout?.on("data", (chunk) => {
    printed += chunk;
    if (printed.includes(text)) resolve(true);
  });
  return promise;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
