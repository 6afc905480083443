import { childEnvironment } from "#core/env.ts";
import { AdminProcess } from "../admin/admin-process.ts";

/** The operator command refused; `code` is its error code, such as `conflict`. */
export class AdminError extends Error {
  override name = "AdminError";
  readonly code: string;

  constructor(command: string, { error, code }: { error: string; code: string }) {
    super(`${command}: ${error}`);
    this.code = code;
  }
}

let running: AdminProcess | undefined;

/** Runs the operator command (`npm run admin -- …`) and returns the JSON it prints; throws AdminError when it refuses. */
export async function runAdmin<T>(...args: string[]): Promise<T> {
  running ??= new AdminProcess(childEnvironment());
  const { json, failure } = await running.ask(args);
  if (failure) throw new AdminError(`admin ${args.slice(0, 2).join(" ")}`, failure);
  return json as T;
}

/** When nothing more is to be asked. */
export function endAdmin(): void {
  running?.close();
}
