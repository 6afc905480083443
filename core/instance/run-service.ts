import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { ensureSetupLink } from "../accounts/setup-link.ts";
import { closeConnections, isDatabaseDown } from "../db.ts";
import { databaseUrl, env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { checkGit } from "../hub/git/check-git.ts";
import { log } from "../log.ts";
import { type EmbeddedServer, startEmbedded } from "../postgres/embedded.ts";
import { prepareSchema } from "../postgres/prepare-schema.ts";
import { type Exit, startChild } from "./child.ts";
import { dataDir } from "./data-dir.ts";
import { embeddedSettings } from "./embedded-settings.ts";
import { CANNOT_START } from "./exit-codes.ts";
import { followChanges } from "./follow-changes.ts";
import { type Kept, keepRunning } from "./keep-running.ts";
import { lockDataDir } from "./lock-data-dir.ts";

type Options = { isDevelopment: boolean; stopping: AbortSignal };

/** What is left of the ten seconds in which the service ends, after the processes that answer requests. */
const DATABASE_GRACE_SECONDS = 1;
const DATABASE_WAIT_SECONDS = 60;

/**
 * Runs the whole service until it is told to stop: the database, unless DATABASE_URL names another one, then the web process
 * and the worker. Each is started again when it crashes.
 *
 * @returns the exit status for this process.
 * @throws {SettingsError} or {MigrationError} when it cannot start, with a message for the operator's terminal.
 */
export async function runService({ isDevelopment, stopping }: Options): Promise<number> {
  loadSettingsFile();
  provideSettings({ NODE_ENV: isDevelopment ? "development" : "production" });
  await checkGit();
  const directory = dataDir();
  const lock = await lockDataDir(directory, "service");
  const children: Kept[] = [];
  const restartChildren = () => void Promise.all(children.map((child) => child.restart()));
  let database: Kept | undefined;
  try {
    if (env().DATABASE_URL) secretKey();
    else database = await keepDatabase(directory, restartChildren);
    await migrateWhenUp(stopping);

    const gaveUp = Promise.withResolvers<number>();
    const crashed = ({ code }: Exit) => {
      if (code === CANNOT_START) gaveUp.resolve(CANNOT_START);
    };
    const started = await Promise.allSettled([
      keepRunning("web process", () => startReady("server.ts"), crashed),
      keepRunning("worker", () => startReady("worker/index.ts"), crashed),
    ]);
    for (const outcome of started) if (outcome.status === "fulfilled") children.push(outcome.value);
    for (const outcome of started) if (outcome.status === "rejected") throw outcome.reason;

    if (isDevelopment) followChanges({ web: children[0] as Kept, worker: children[1] as Kept }, stopping);
    await announce();
    return await Promise.race([gaveUp.promise, untilAborted(stopping).then(() => 0)]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await database?.stop();
    lock?.release();
  }
}

/** The embedded database. Its address goes into the settings, from which the children take it when they start. */
function keepDatabase(directory: string, moved: () => void): Promise<Kept> {
  return keepRunning("database", async (previous?: EmbeddedServer) => {
    const server = await startEmbedded(directory, { preferredPort: previous?.port });
    provideSettings(embeddedSettings(directory, server));
    if (previous && previous.port !== server.port) moved();
    return { ...server, stop: () => server.stop(DATABASE_GRACE_SECONDS) };
  });
}

async function startReady(file: string) {
  const child = startChild(file);
  await child.ready;
  return child;
}

/** A database of the operator's may be starting at this moment too, as after a reboot. */
async function migrateWhenUp(stopping: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + DATABASE_WAIT_SECONDS * 1_000; ; await delay(1_000, undefined, { signal: stopping })) {
    try {
      const urls = { url: databaseUrl(), ownerUrl: env().DATABASE_OWNER_URL };
      for (const name of await prepareSchema(urls)) log().info(`applied migration ${name}`);
      return;
    } catch (error) {
      if (!isDatabaseDown(error)) throw error;
      if (Date.now() > deadline)
        throw new SettingsError(`DATABASE_URL: no database answers there: ${(error as Error).message}`, { cause: error });
      log().warn("the database does not answer; waiting for it");
    }
  }
}

/** For the person at the terminal; the rest of what is printed is the log. */
async function announce(): Promise<void> {
  const { BRAND_NAME, ORIGIN } = env();
  const setupLink = await ensureSetupLink();
  await closeConnections();
  const lines = [`${BRAND_NAME} is ready: ${ORIGIN}`];
  if (setupLink) lines.push(`Make the first operator, once, here: ${setupLink}`);
  console.log(`\n  ${lines.join("\n  ")}\n`);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
