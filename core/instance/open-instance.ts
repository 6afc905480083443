import { setTimeout as delay } from "node:timers/promises";
import { closeConnections } from "../db.ts";
import { env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { findEmbedded, startEmbedded } from "../postgres/embedded.ts";
import { migrate } from "../postgres/migrate.ts";
import { pendingMigrations } from "../postgres/pending-migrations.ts";
import { dataDir } from "./data-dir.ts";
import { embeddedSettings } from "./embedded-settings.ts";
import { lockDataDir } from "./lock-data-dir.ts";

export type Instance = { close(): Promise<void> };

const SERVICE_START_SECONDS = 60;

/**
 * Makes the installation that the settings describe usable for one command: after it `db()` and `secretKey()` work. It joins
 * the database of a service that is running; when none is, it starts the embedded one until `close()`, and migrates it.
 *
 * @throws {SettingsError} with a message for the operator's terminal.
 */
export async function openInstance(): Promise<Instance> {
  loadSettingsFile();
  const { DATABASE_URL } = env();
  if (DATABASE_URL) {
    secretKey();
    await migrate(DATABASE_URL);
    return { close: closeConnections };
  }
  const directory = dataDir();
  const lock = await lockDataDir(directory, "command");
  if (!lock) return joinService(directory);

  const server = await startEmbedded(directory);
  const close = async () => {
    await closeConnections();
    await server.stop();
    lock.release();
  };
  try {
    provideSettings(embeddedSettings(directory, server.url));
    await migrate(server.url);
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function joinService(directory: string): Promise<Instance> {
  for (const deadline = Date.now() + SERVICE_START_SECONDS * 1_000; Date.now() < deadline; await delay(100)) {
    const url = findEmbedded(directory);
    if (!url) continue; // it is starting, or recovers
    provideSettings(embeddedSettings(directory, url));
    const pending = await pendingMigrations(url);
    if (pending.length > 0) throw new SettingsError(`The running service is older than this command. Restart it first.`);
    return { close: closeConnections };
  }
  throw new SettingsError(`A service holds ${directory}, but its database does not answer. See ${directory}/postgres.log.`);
}
