import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";
import type { Command, Outcome } from "./command.ts";
import { loadSettings } from "./load-settings.ts";

export async function runCommand(command: Command, values: Record<string, unknown>): Promise<Outcome> {
  const run = () => command.run(values);
  return command.opensInstance === false ? run() : withInstance(run);
}

export async function withInstance<Result>(use: () => Promise<Result>): Promise<Result> {
  loadSettings();
  const instance = await openInstance();
  try {
    // Standard output is for the result only, not for log lines.
    provideSettings({ LOG_LEVEL: "silent" });
    return await use();
  } finally {
    await instance.close();
  }
}
