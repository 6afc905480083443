import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Runs a program of the project's; what it said is in the error when it fails. */
export function runProgram(program: string, args: string[], cwd = ROOT): void {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter) },
  });
  if (status === 0) return;
  throw new Error(`${program} failed: ${error?.message ?? `it ended with ${signal ?? status}`}\n${stdout ?? ""}${stderr ?? ""}`);
}

/** The npm that runs this script, else the one on the path. */
export function runNpm(args: string[], cwd: string): void {
  const npm = process.env.npm_execpath;
  if (npm) runProgram(process.execPath, [npm, ...args], cwd);
  else runProgram("npm", args, cwd);
}
