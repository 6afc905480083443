import { setTimeout as delay } from "node:timers/promises";
import { closeConnections } from "../db.ts";
import { env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { findEmbedded, startEmbedded } from "../postgres/embedded.ts";
import { pendingMigrations } from "../postgres/migrate.ts";
import { databaseUrls, prepareSchema } from "../postgres/prepare-schema.ts";
import { dataDir, embeddedSettings, lockDataDir, requireNotMoved } from "./data-dir.ts";

type Instance = { close(): Promise<void> };

const SERVICE_START_SECONDS = 60;

/** Makes `db()` and `secretKey()` work. Without DATABASE_URL, uses a running service's database or starts one until `close()`. */
export async function openInstance(): Promise<Instance> {
  loadSettingsFile();
  if (env().DATABASE_URL) {
    secretKey();
    await prepareSchema(databaseUrls());
    return { close: closeConnections };
  }
  const directory = dataDir();
  requireNotMoved(directory);
  const lock = await lockDataDir(directory, "command");
  if (!lock) return joinService(directory);

  const server = await startEmbedded(directory);
  const close = async () => {
    await closeConnections();
    await server.stop();
    lock.release();
  };
  try {
    provideSettings(embeddedSettings(directory, server));
    await prepareSchema(server);
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function joinService(directory: string): Promise<Instance> {
  for (const deadline = Date.now() + SERVICE_START_SECONDS * 1_000; Date.now() < deadline; await delay(100)) {
    const urls = findEmbedded(directory);
    if (!urls) continue; // the database is starting or recovering
    // The owner's role is used, because a service of an older version may have no other role.
    const pending = await pendingMigrations(urls.ownerUrl);
    if (pending.length > 0) throw new SettingsError(`The running service is older than this command. Restart it first.`);
    provideSettings(embeddedSettings(directory, urls));
    return { close: closeConnections };
  }
  throw new SettingsError(
    `A service is running on ${directory}, but its database does not respond. See ${directory}/postgres.log.`,
  );
}
