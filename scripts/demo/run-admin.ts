import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { childEnvironment } from "#core/env.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The operator command refused; `code` is its error code, such as `conflict`. */
export class AdminError extends Error {
  override name = "AdminError";
  readonly code: string;

  constructor(command: string, { error, code }: { error: string; code: string }) {
    super(`${command}: ${error}`);
    this.code = code;
  }
}

/** Runs the operator command (`npm run admin -- …`) and returns the JSON it prints; throws AdminError when it refuses. */
export function runAdmin<T>(...args: string[]): Promise<T> {
  const { promise, resolve: succeed, reject } = Promise.withResolvers<T>();
  const options = { cwd: ROOT, env: childEnvironment() };
  execFile(process.execPath, ["scripts/admin.ts", ...args, "--json"], options, (failure, stdout, stderr) => {
    const command = `admin ${args.slice(0, 2).join(" ")}`;
    try {
      if (failure) reject(new AdminError(command, JSON.parse(stderr.trim().split("\n").at(-1) ?? "")));
      else succeed(JSON.parse(stdout));
    } catch {
      reject(new Error(`${command} did not answer in JSON: ${stderr || stdout || failure?.message}`));
    }
  });
  return promise;
}
