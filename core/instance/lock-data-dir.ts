import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { SettingsError } from "../env.ts";

/** The holders of a data directory's lock: the running service, or a command that needs its database for a moment. */
export type Holder = "service" | "command";

export type DataDirLock = { release(): void };

const COMMAND_SECONDS = 60;

/**
 * Locks a data directory for one process. Node has no file locks; SQLite's are the kernel's, which releases them however the process ends,
 * so there are no stale locks to detect.
 *
 * @returns undefined if a service holds it and a command asks; the command may then use the service's database.
 * @throws {SettingsError} if a service holds it and a second one asks.
 */
export async function lockDataDir(dataDir: string, holder: Holder): Promise<DataDirLock | undefined> {
  for (const deadline = Date.now() + COMMAND_SECONDS * 1_000; ; await delay(100)) {
    const lock = tryLock(dataDir, holder);
    if (lock) return lock;
    const other = readHolder(dataDir);
    if (other?.holder === "service") {
      if (holder === "command") return undefined;
      throw new SettingsError(
        `The service is already running on ${dataDir} (process ${other.pid}). Stop it first, or start this one with another DATA_DIR and PORT.`,
      );
    }
    if (Date.now() > deadline)
      throw new SettingsError(`Another command has held ${dataDir} for a minute${other ? ` (process ${other.pid})` : ""}.`);
  }
}

function tryLock(dataDir: string, holder: Holder): DataDirLock | undefined {
  const file = new DatabaseSync(join(dataDir, "lock"));
  try {
    file.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  writeFileSync(holderFile(dataDir), JSON.stringify({ pid: process.pid, holder }));
  return { release: () => file.close() };
}

const SQLITE_BUSY = 5;
const holderFile = (dataDir: string) => join(dataDir, "lock.holder");

function readHolder(dataDir: string): { pid: number; holder: Holder } | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(dataDir), "utf8"));
  } catch {
    return undefined; // just taken, not yet written
  }
}
