import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, type Writable } from "node:stream";
import { run } from "../src/run.ts";

export type RunOptions = {
  env?: Record<string, string>;
  stdin?: string | Readable;
  isTerminal?: boolean;
  columns?: number;
  signal?: AbortSignal;
  onOutput?: (text: string) => void;
  wait?: (seconds: number, signal?: AbortSignal) => Promise<void>;
  openBrowser?: (url: string) => Promise<boolean>;
};

export type Ran = { code: number; stdout: string; stderr: string };

export const newConfigDir = (): string => mkdtempSync(join(tmpdir(), "keyhook-cli-"));

export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, stdin = "", isTerminal = false, columns = 120, signal = new AbortController().signal } = options;
  const [stdout, stderr] = [collect(options.onOutput), collect(options.onOutput)];
  const code = await run(argv, {
    stdin: Object.assign(typeof stdin === "string" ? Readable.from(stdin === "" ? [] : [stdin]) : stdin, { isTTY: isTerminal }),
    stdout: Object.assign(stdout.stream, { isTTY: isTerminal, columns }),
    stderr: Object.assign(stderr.stream, { isTTY: isTerminal }),
    env: { KEYHOOK_CONFIG_DIR: env.KEYHOOK_CONFIG_DIR ?? newConfigDir(), NO_COLOR: "1", ...env },
    signal,
    ...(options.wait && { wait: options.wait }),
    openBrowser: options.openBrowser ?? (async () => false),
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(onOutput?: (text: string) => void): { stream: Writable; text: () => string } {
  const stream = new PassThrough();
  let text = "";
  stream.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    onOutput?.(piece);
  });
  return { stream, text: () => text };
}
