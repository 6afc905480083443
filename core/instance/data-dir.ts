import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { keptSecret } from "../crypto/kept-secret.ts";
import { type Env, env, provideSettings, SettingsError } from "../env.ts";
import type { EmbeddedUrls } from "../postgres/embedded.ts";

export function dataDir(): string {
  const { DATA_DIR } = env();
  // If this process is root, the database runs as another user, who must be able to traverse the directory.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    mkdirSync(DATA_DIR, { recursive: true, mode });
  } catch (cause) {
    throw new SettingsError(`DATA_DIR: ${DATA_DIR} cannot be created: ${(cause as Error).message}`, { cause });
  }
  return DATA_DIR;
}

export function embeddedSettings(dataDir: string, { url, ownerUrl }: EmbeddedUrls): Partial<Record<keyof Env, string>> {
  const previous = previousKeyFile(dataDir);
  return {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    SECRET_KEY: env().SECRET_KEY ?? keptSecret(keyFile(dataDir)),
    ...(!env().SECRET_KEY_PREVIOUS && existsSync(previous) && { SECRET_KEY_PREVIOUS: keptSecret(previous) }),
  };
}

export function provideGeneratedKey(): void {
  const { DATA_DIR, SECRET_KEY, SECRET_KEY_PREVIOUS } = env();
  const previous = previousKeyFile(DATA_DIR);
  if (SECRET_KEY || !existsSync(keyFile(DATA_DIR))) return;
  provideSettings({
    SECRET_KEY: keptSecret(keyFile(DATA_DIR)),
    ...(!SECRET_KEY_PREVIOUS && existsSync(previous) && { SECRET_KEY_PREVIOUS: keptSecret(previous) }),
  });
}

const keyFile = (dataDir: string): string => join(dataDir, "secret-key");
export const previousKeyFile = (dataDir: string): string => `${keyFile(dataDir)}.previous`;

export function isKeyGenerated(dataDir: string): boolean {
  return existsSync(keyFile(dataDir)) && keptSecret(keyFile(dataDir)) === env().SECRET_KEY;
}

export function replaceKeyFile(dataDir: string): void {
  const [file, next] = [keyFile(dataDir), `${keyFile(dataDir)}.next`];
  keptSecret(next);
  copyFileSync(file, previousKeyFile(dataDir));
  renameSync(next, file);
}

const movedFile = (dataDir: string) => join(dataDir, "database-moved");

export function recordMove(dataDir: string, to: string): void {
  const { host, pathname } = new URL(to);
  writeFileSync(movedFile(dataDir), `${new Date().toISOString()} to ${host}${pathname}\n`, { mode: 0o600 });
}

/** A service that lost its DATABASE_URL would continue with the data from before the move. */
export function requireNotMoved(dataDir: string): void {
  if (!existsSync(movedFile(dataDir))) return;
  throw new SettingsError(
    `The database of ${dataDir} was moved on ${readFileSync(movedFile(dataDir), "utf8").trim()}. Set DATABASE_URL and SECRET_KEY as the command printed them, ` +
      `or remove ${movedFile(dataDir)} to go back to the previous data.`,
  );
}

type Holder = "service" | "command";

type DataDirLock = { release(): void };

const COMMAND_SECONDS = 60;

/**
 * Node has no file locks, so this uses SQLite's locks, which the kernel releases however the process ends.
 * @returns undefined for a command if a service holds the lock
 * @throws SettingsError for a second service, or if another command holds the lock for too long
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
      throw new SettingsError(
        `Another command is still using ${dataDir}${other ? ` (process ${other.pid})` : ""}. Try again when it has finished.`,
      );
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
