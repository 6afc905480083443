import { mkdirSync } from "node:fs";
import { env, SettingsError } from "../env.ts";

/** DATA_DIR, created if it does not exist. */
export function dataDir(): string {
  const { DATA_DIR } = env();
  // If we are root, the database runs as another user, who must be able to traverse it; its contents have restrictive modes of their own.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    mkdirSync(DATA_DIR, { recursive: true, mode });
  } catch (cause) {
    throw new SettingsError(`DATA_DIR: ${DATA_DIR} cannot be made: ${(cause as Error).message}`, { cause });
  }
  return DATA_DIR;
}
