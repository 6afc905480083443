import type { Readable } from "node:stream";
import { childEnvironment, provideSettings } from "../env.ts";
import { makeLogger, replaceLogger } from "../log.ts";

let formatter: ((line: string) => string) | undefined;

/** Makes the log readable at a terminal. By default it shows only warnings there, so that the printed link stays visible. */
export async function prepareTerminal({ isDevelopment }: { isDevelopment: boolean }): Promise<void> {
  if (!process.stdout.isTTY) return;
  formatter = await makeFormatter();
  if (!isDevelopment && !childEnvironment().LOG_LEVEL) provideSettings({ LOG_LEVEL: "warn" });
  replaceLogger(makeLogger({ write: print }));
}

export const isAtTerminal = (): boolean => formatter !== undefined;

/** Splits at line feeds alone: node:readline also splits at U+2028, which texts of clients may contain. */
export function printLines(output: Readable): void {
  let rest = "";
  output.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) print(line);
  });
  output.once("end", () => rest && print(rest));
}

export function reportStep(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`✓ ${text}  ${(performance.now() / 1_000).toFixed(1)} s\n`);
}

function print(line: string): void {
  if (formatter) process.stdout.write(formatter(line));
}

/** Control characters, raw and escaped in JSON. Escaped backslashes match too, so that no match begins within one. */
const CONTROL = /\\(?:u00[01][0-9a-f]|[bfnr\\])|(?!\t)\p{Cc}/gu;

/**
 * Returns a function that formats a JSON line of the log for reading and only cleans other lines. Errors quote what clients
 * sent, so it replaces control characters and indents all further lines (CWE-150).
 */
export async function makeFormatter(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const format = prettyFactory({ translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname", singleLine: true });
  const shown: Readonly<Record<string, string>> = { "\\\\": "\\\\", "\\n": "\\n    " };
  return (line) => format(line.replace(/\r$/, "").replace(CONTROL, (found) => shown[found] ?? "\ufffd"));
}
