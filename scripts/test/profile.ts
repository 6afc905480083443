import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { profilePlaywright } from "./read-results.ts";

export type Profiled = { file: string; ms: Partial<Record<Phase, number>> };

type Phase = "collect" | "set-up" | "tests" | "browser";

const SLOWEST = 30;

export function describeProfile(files: Profiled[], steps: Record<string, number>, cpuSeconds: number | undefined): string {
  const sums = new Map<string, number>();
  for (const { ms } of files) for (const [phase, took] of Object.entries(ms)) sums.set(phase, (sums.get(phase) ?? 0) + took);
  const slowest = files.map(({ file, ms }) => ({ file, took: total(ms), ms })).sort((a, b) => b.took - a.took);
  const lines = slowest.slice(0, SLOWEST).map(({ file, took, ms }) => {
    const phases = Object.entries(ms).map(([phase, each]) => `${phase} ${seconds(each)}`);
    return `${seconds(took).padStart(8)}  ${file} (${phases.join(", ")})`;
  });
  return [
    "\n— the slowest files",
    ...lines,
    "\n— all files, by phase: seconds of all workers together",
    ...[...sums].map(([phase, took]) => `${seconds(took).padStart(8)}  ${phase}`),
    "\n— steps: seconds that passed; the first ones run in parallel",
    ...Object.entries(steps).map(([title, took]) => `${seconds(took).padStart(8)}  ${title}`),
    ...(cpuSeconds === undefined ? [] : [`\n— ${Math.round(cpuSeconds)} seconds of CPU`]),
  ].join("\n");
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const total = (ms: Profiled["ms"]) => Object.values(ms).reduce((sum, each) => sum + each, 0);

export function readProfile(vitestFiles: string[], playwrightFile: string): Profiled[] {
  const read = (path: string) => (existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Profiled[]) : []);
  return [...vitestFiles.flatMap(read), ...profilePlaywright(playwrightFile)];
}

/** Includes children for which this process has waited. Linux counts in hundredths of a second (proc(5), utime to cstime). */
export function cpuSecondsSoFar(): number | undefined {
  if (!existsSync("/proc/self/stat")) return undefined;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / 100;
}

const root = join(import.meta.dirname, "../..");
const bin = join(root, "node_modules/.bin");
// Tests start the service and its commands about three hundred times, and compiling takes half of a start.
const compiled = join(root, "node_modules/.cache/node");

type Output = {
  /** If other tools run at the same time, the output is shown in one piece when the tool has ended. */
  isBeside?: boolean;
  onLine?: ((line: string) => void) | undefined;
};

export async function runTool(
  name: string,
  args: string[],
  environment: Record<string, string> = {},
  { isBeside = false, onLine }: Output = {},
): Promise<number> {
  const child = spawn(join(bin, name), args, {
    cwd: root,
    stdio: isBeside || onLine ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, PATH: [bin, process.env.PATH].join(delimiter), ...environment },
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream && onLine) createInterface({ input: stream }).on("line", onLine);
    else stream?.on("data", (chunk: Buffer) => printed.push(chunk));
  }
  const [code] = await once(child, "close");
  process.stdout.write(Buffer.concat(printed));
  return code ?? 1;
}
