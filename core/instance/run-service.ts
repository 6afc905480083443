import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { ensureSetupLink } from "../accounts/setup-link.ts";
import { closeConnections, isDatabaseDown } from "../db.ts";
import { databaseUrl, env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { checkGit } from "../hub/git/check-git.ts";
import { log } from "../log.ts";
import { type EmbeddedServer, startEmbedded } from "../postgres/embedded.ts";
import { prepareSchema } from "../postgres/prepare-schema.ts";
import { answerHealth } from "./answer-health.ts";
import { type Child, type Exit, startChild } from "./child.ts";
import { dataDir } from "./data-dir.ts";
import { embeddedSettings } from "./embedded-settings.ts";
import { CANNOT_START } from "./exit-codes.ts";
import { followChanges } from "./follow-changes.ts";
import { type Kept, keepRunning } from "./keep-running.ts";
import { lockDataDir } from "./lock-data-dir.ts";
import { requireNotMoved } from "./moved-database.ts";

export type ServiceOptions = {
  isDevelopment: boolean;
  /** Only one of the two processes, on a machine or in a container of its own; both if absent. */
  only?: ServiceProcess | undefined;
};
export type ServiceProcess = "web" | "worker";

/** The rest of the ten seconds in which the service ends, after the processes that answer requests. */
const DATABASE_GRACE_SECONDS = 1;
const DATABASE_WAIT_SECONDS = 60;
const ONLY_WITH_DATABASE =
  "--only needs DATABASE_URL: processes that are started apart share a PostgreSQL of yours, and the embedded one belongs to one " +
  "service. `npm run admin -- database move` moves what is in it.";

/**
 * Runs the service until it is told to stop: the database, unless DATABASE_URL names another one, then the web process and the worker, or
 * one of them. Each is restarted when it crashes.
 *
 * @returns the exit status for this process.
 * @throws {SettingsError} or {MigrationError} when it cannot start, with a message for the operator's terminal.
 */
export async function runService({ isDevelopment, only, stopping }: ServiceOptions & { stopping: AbortSignal }): Promise<number> {
  loadSettingsFile();
  provideSettings({ NODE_ENV: isDevelopment ? "development" : "production" });
  await checkGit();
  const isEmbedded = !env().DATABASE_URL;
  if (isEmbedded && only) throw new SettingsError(ONLY_WITH_DATABASE);
  const directory = dataDir();
  // It guards the embedded database. The other contents may be shared by processes and machines.
  if (isEmbedded) requireNotMoved(directory);
  const lock = isEmbedded ? await lockDataDir(directory, "service") : undefined;
  const children: Kept[] = [];
  let health: { stop(): Promise<void> } | undefined;
  const restartChildren = () => void Promise.all(children.map((child) => child.restart()));
  let database: Kept | undefined;
  try {
    if (isEmbedded) database = await keepDatabase(directory, restartChildren);
    else secretKey();
    await migrateWhenUp(stopping);

    const gaveUp = Promise.withResolvers<number>();
    const crashed = ({ code }: Exit) => {
      if (code === CANNOT_START) gaveUp.resolve(CANNOT_START);
    };
    let worker: Child | undefined;
    const started = await Promise.allSettled([
      ...(only === "worker" ? [] : [keepRunning("web process", () => startReady("server.ts"), crashed)]),
      ...(only === "web"
        ? []
        : [keepRunning("worker", () => startReady("worker/index.ts", (child) => (worker = child)), crashed)]),
    ]);
    for (const outcome of started) if (outcome.status === "fulfilled") children.push(outcome.value);
    for (const outcome of started) if (outcome.status === "rejected") throw outcome.reason;

    if (isDevelopment && !only) followChanges({ web: children[0] as Kept, worker: children[1] as Kept }, stopping);
    const { WORKER_HEALTH_PORT } = env();
    if (only === "worker" && WORKER_HEALTH_PORT) health = await answerHealth(WORKER_HEALTH_PORT, () => worker?.heardAt());
    await announce(only);
    return await Promise.race([gaveUp.promise, untilAborted(stopping).then(() => 0)]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await health?.stop();
    await database?.stop();
    lock?.release();
  }
}

/** The embedded database. Its URL goes into the settings, from which the children get it when they start. */
function keepDatabase(directory: string, moved: () => void): Promise<Kept> {
  return keepRunning("database", async (previous?: EmbeddedServer) => {
    const server = await startEmbedded(directory, { preferredPort: previous?.port });
    provideSettings(embeddedSettings(directory, server));
    if (previous && previous.port !== server.port) moved();
    return { ...server, stop: () => server.stop(DATABASE_GRACE_SECONDS) };
  });
}

async function startReady(file: string, started: (child: Child) => void = () => undefined) {
  const child = startChild(file);
  started(child);
  await child.ready;
  return child;
}

/** The operator's database may also be starting at this moment, for example after a reboot. */
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

/** For the operator at the terminal; everything else printed is the log. */
async function announce(only: ServiceProcess | undefined): Promise<void> {
  const { BRAND_NAME, ORIGIN } = env();
  if (only === "worker") return console.log(`\n  A worker of ${BRAND_NAME} is ready: it works for ${ORIGIN}\n`);
  const setupLink = await ensureSetupLink();
  await closeConnections();
  const lines = [`${BRAND_NAME} is ready: ${ORIGIN}`];
  if (setupLink) lines.push(`Make the first operator, once, here: ${setupLink}`);
  console.log(`\n  ${lines.join("\n  ")}\n`);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
