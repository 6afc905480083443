import { existsSync, readFileSync } from "node:fs";
import { profilePlaywright } from "./read-results.ts";

/** What a file of tests or stories took, by phase. */
export type Profiled = { file: string; ms: Partial<Record<Phase, number>> };

type Phase = "collect" | "set-up" | "tests" | "browser";

const SLOWEST = 30;

/** What `npm test -- --profile` prints at its end: the slowest files, the sum by phase, and the processor's time. */
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
    "\n— steps: seconds that passed; the first ones run beside each other",
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

/** Linux counts it in hundredths of a second, for this process and whatever it has waited for (proc(5), utime to cstime). */
export function cpuSecondsSoFar(): number | undefined {
  if (!existsSync("/proc/self/stat")) return undefined;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / 100;
}
