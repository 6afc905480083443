import { AdminProcess } from "../../scripts/admin/admin-process.ts";
import type { Demo } from "./demo.ts";

/** The processes by service. A process ends with its worker. */
const running = new Map<string | undefined, AdminProcess>();

export async function admin<T = Record<string, string>>(
  { environment }: Pick<Demo, "environment">,
  ...args: string[]
): Promise<T> {
  const command = running.get(environment.DATA_DIR) ?? new AdminProcess({ ...process.env, ...environment });
  running.set(environment.DATA_DIR, command);
  const { json, failure } = await command.run(args);
  if (failure) throw new Error(`${args.join(" ")}: ${failure.error}`);
  return json as T;
}
