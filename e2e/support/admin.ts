import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { Demo } from "./demo.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs the operator command against a running instance and returns the JSON it prints. */
export async function admin<T = Record<string, string>>(
  { environment }: Pick<Demo, "environment">,
  ...args: string[]
): Promise<T> {
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/admin.ts", ...args, "--json"], { cwd: ROOT, env });
  return JSON.parse(stdout);
}
