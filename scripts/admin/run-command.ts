import { closeConnections } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import type { Command, Outcome } from "./command.ts";
import { openInstance } from "./open-stand-in.ts";

/** Runs a command with the database behind it, whether the service runs, is stopped or was never started. */
export async function runCommand(command: Command, values: Record<string, unknown>): Promise<Outcome> {
  // Standard output belongs to the answer: log lines have no place in it.
  provideSettings({ LOG_LEVEL: "silent" });
  const instance = await openInstance();
  try {
    return await command.run(values);
  } finally {
    await closeConnections();
    await instance.close();
  }
}
