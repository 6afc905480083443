import { AdminProcess } from "../../scripts/admin/admin-process.ts";
import type { Demo } from "./demo.ts";

/** One for each worker, which ends with it. */
let running: AdminProcess | undefined;

/** Runs the operator command against the demo and returns the JSON it prints. */
export async function admin<T = Record<string, string>>(
  { environment }: Pick<Demo, "environment">,
  ...args: string[]
): Promise<T> {
  running ??= new AdminProcess({ ...process.env, ...environment });
  const { json, failure } = await running.ask(args);
  if (failure) throw new Error(`${args.join(" ")}: ${failure.error}`);
  return json as T;
}
