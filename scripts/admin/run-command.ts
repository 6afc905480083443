import type { Command, Outcome } from "./command.ts";
import { withInstance } from "./with-instance.ts";

export async function runCommand(command: Command, values: Record<string, unknown>): Promise<Outcome> {
  const run = () => command.run(values);
  return command.opensInstance === false ? run() : withInstance(run);
}
