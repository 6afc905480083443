import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsError } from "../env.ts";

const file = (dataDir: string) => join(dataDir, "database-moved");

/** Remembers that what the embedded database of this directory has is elsewhere now. */
export function noteMoved(dataDir: string, to: string): void {
  const { host, pathname } = new URL(to);
  writeFileSync(file(dataDir), `${new Date().toISOString()} to ${host}${pathname}\n`, { mode: 0o600 });
}

/**
 * A service that lost its DATABASE_URL would go on with what was there before the move, and the two would drift apart.
 * @throws {SettingsError}
 */
export function requireNotMoved(dataDir: string): void {
  if (!existsSync(file(dataDir))) return;
  throw new SettingsError(
    `The database of ${dataDir} was moved on ${readFileSync(file(dataDir), "utf8").trim()}. Set DATABASE_URL and SECRET_KEY as it said then, ` +
      `or remove ${file(dataDir)} to go back to what there was before.`,
  );
}
