import { mkdirSync } from "node:fs";
import { env, SettingsError } from "../env.ts";

/** DATA_DIR, made when it is not there. */
export function dataDir(): string {
  const { DATA_DIR } = env();
  // As root the database runs as another user, who must be able to pass through; what lies in here is closed by itself.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    mkdirSync(DATA_DIR, { recursive: true, mode });
  } catch (cause) {
    throw new SettingsError(`DATA_DIR: ${DATA_DIR} cannot be made: ${(cause as Error).message}`, { cause });
  }
  return DATA_DIR;
}
