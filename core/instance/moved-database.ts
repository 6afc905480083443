import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsError } from "../env.ts";

const file = (dataDir: string) => join(dataDir, "database-moved");

/** Records that the data of this directory's embedded database has moved. */
export function noteMoved(dataDir: string, to: string): void {
  const { host, pathname } = new URL(to);
  writeFileSync(file(dataDir), `${new Date().toISOString()} to ${host}${pathname}\n`, { mode: 0o600 });
}

/**
 * A service without its DATABASE_URL would continue with the data from before the move, and the two would diverge.
 * @throws {SettingsError}
 */
export function requireNotMoved(dataDir: string): void {
  if (!existsSync(file(dataDir))) return;
  throw new SettingsError(
    `The database of ${dataDir} was moved on ${readFileSync(file(dataDir), "utf8").trim()}. Set DATABASE_URL and SECRET_KEY as it said then, ` +
      `or remove ${file(dataDir)} to go back to what there was before.`,
  );
}
