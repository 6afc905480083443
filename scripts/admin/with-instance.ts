import { provideSettings } from "#core/env.ts";
import { openInstance } from "#core/instance/open-instance.ts";

/** Runs something with the database behind it, whether the service runs, is stopped or was never started. */
export async function withInstance<Result>(use: () => Promise<Result>): Promise<Result> {
  const instance = await openInstance();
  try {
    // Standard output belongs to the answer: log lines have no place in it.
    provideSettings({ LOG_LEVEL: "silent" });
    return await use();
  } finally {
    await instance.close();
  }
}
