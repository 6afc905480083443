import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { childEnvironment, provideSettings } from "../env.ts";
import { makeLogger, replaceLogger } from "../log.ts";

let formatter: ((line: string) => string) | undefined;

/** Shows only warnings, so that the printed link stays visible. */
export async function prepareTerminal({ isDevelopment }: { isDevelopment: boolean }): Promise<void> {
  if (!process.stdout.isTTY) return;
  formatter = await makeFormatter();
  if (!isDevelopment && !childEnvironment().LOG_LEVEL) provideSettings({ LOG_LEVEL: "warn" });
  replaceLogger(makeLogger({ write: print }));
}

export const isAtTerminal = (): boolean => formatter !== undefined;

export function printLines(output: Readable): void {
  createInterface({ input: output }).on("line", print);
}

export function reportStep(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`✓ ${text}  ${(performance.now() / 1_000).toFixed(1)} s\n`);
}

function print(line: string): void {
  if (formatter) process.stdout.write(formatter(line));
}

export async function makeFormatter(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const format = prettyFactory({ translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname", singleLine: true });
  // JSON escapes only C0, which is the first of the two ranges.
  return (line) => format(line.replace(/\\u00[01][0-9a-f]|[\x7f-\x9f]/g, "\\ufffd"));
}
