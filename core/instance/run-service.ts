import { once } from "node:events";
import { watch } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { derivedKey } from "../crypto/seal.ts";
import { isDatabaseDown } from "../database-errors.ts";
import { databaseUrl, env, loadSettingsFile, provideSettings, SettingsError, secretKey } from "../env.ts";
import { checkGit } from "../hub/git/check-git.ts";
import { log } from "../log.ts";
import { isDatabaseUp } from "../postgres/availability.ts";
import { type EmbeddedServer, startEmbedded } from "../postgres/embedded.ts";
import { databaseUrls, prepareSchema } from "../postgres/prepare-schema.ts";
import { type Child, type Exit, startChild } from "./child.ts";
import { dataDir, embeddedSettings, lockDataDir, requireNotMoved } from "./data-dir.ts";
import { type Kept, keepRunning } from "./keep-running.ts";
import { CANNOT_START, releaseStartMemory } from "./process-lifecycle.ts";
import { prepareTerminal, reportStep } from "./terminal.ts";

export type ServiceOptions = {
  isDevelopment: boolean;
  /** For a process that has a machine or container of its own. If absent, this runs all processes. */
  only?: ServiceProcess | undefined;
};
type ServiceProcess = "web" | "worker";

/** The service must end within ten seconds, and the database stops last. */
const DATABASE_GRACE_SECONDS = 1;
const DATABASE_WAIT_SECONDS = 60;
const ONLY_WITH_DATABASE =
  "--only requires DATABASE_URL: processes that are started separately must share your own PostgreSQL server, because the embedded one can be " +
  "used only by processes that are started together. `npm run admin -- database move` moves the data.";

export async function runService({ isDevelopment, only, stopping }: ServiceOptions & { stopping: AbortSignal }): Promise<number> {
  loadSettingsFile();
  provideSettings({ NODE_ENV: isDevelopment ? "development" : "production" });
  await prepareTerminal({ isDevelopment });
  await checkGit();
  const isEmbedded = !env().DATABASE_URL;
  if (isEmbedded && only) throw new SettingsError(ONLY_WITH_DATABASE);
  const directory = dataDir();
  // Processes and machines may share DATA_DIR, so it is locked only if it contains the database.
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
    reportStep("The database is ready");

    const gaveUp = Promise.withResolvers<number>();
    const crashed = ({ code }: Exit) => {
      if (code === CANNOT_START) gaveUp.resolve(CANNOT_START);
    };
    let worker: Child | undefined;
    let setupLink: string | undefined;
    let hasAnnounced = false;
    const startWeb = async () => {
      const child = startChild("server.ts", hasAnnounced ? [] : ["--setup-link"], {
        NEXT_SERVER_ACTIONS_ENCRYPTION_KEY: derivedKey("server actions").toString("base64"),
      });
      ({ setupLink } = (await child.ready) as { setupLink?: string });
      return child;
    };
    const startWorker = async () => {
      worker = startChild("worker/index.ts");
      await worker.ready;
      return worker;
    };
    const started = await Promise.allSettled([
      ...(only === "worker" ? [] : [keepRunning("web process", startWeb, crashed)]),
      ...(only === "web" ? [] : [keepRunning("worker", startWorker, crashed)]),
    ]);
    for (const outcome of started) if (outcome.status === "fulfilled") children.push(outcome.value);
    for (const outcome of started) if (outcome.status === "rejected") throw outcome.reason;
    reportStep(
      only ? `The ${only === "web" ? "web process" : "worker"} has started` : "The web process and the worker have started",
    );

    if (isDevelopment && !only) restartOnChanges({ web: children[0] as Kept, worker: children[1] as Kept }, stopping);
    const { WORKER_HEALTH_PORT } = env();
    if (only === "worker" && WORKER_HEALTH_PORT) health = await serveHealth(WORKER_HEALTH_PORT, () => worker?.heardAt());
    announce(only, setupLink);
    hasAnnounced = true;
    releaseStartMemory();
    return await Promise.race([gaveUp.promise, untilAborted(stopping).then(() => 0)]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await health?.stop();
    await database?.stop();
    lock?.release();
  }
}

function keepDatabase(directory: string, moved: () => void): Promise<Kept> {
  return keepRunning("database", async (previous?: EmbeddedServer) => {
    const server = await startEmbedded(directory, { preferredPort: previous?.port });
    provideSettings(embeddedSettings(directory, server));
    if (previous && previous.url !== server.url) moved();
    return { ...server, stop: () => server.stop(DATABASE_GRACE_SECONDS) };
  });
}

/** After a reboot, the operator's database may still be starting. */
async function migrateWhenUp(stopping: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + DATABASE_WAIT_SECONDS * 1_000; ; await delay(1_000, undefined, { signal: stopping })) {
    try {
      const migrations = await prepareSchema(databaseUrls());
      if (migrations.length > 0) log().info({ migrations }, "applied migrations");
      return;
    } catch (error) {
      if (!isDatabaseDown(error)) throw error;
      if (Date.now() > deadline)
        throw new SettingsError(`DATABASE_URL: the database does not respond: ${(error as Error).message}`, { cause: error });
      log().warn("the database does not respond; waiting for it");
    }
  }
}

function announce(only: ServiceProcess | undefined, setupLink: string | undefined): void {
  const { BRAND_NAME, ORIGIN } = env();
  const lines = [`${only === "worker" ? `A worker of ${BRAND_NAME}` : BRAND_NAME} is ready: ${ORIGIN}`];
  if (setupLink) lines.push("", "Create the operator's account with this link, which works once:", setupLink);
  if (only !== "worker") lines.push("", `Guides and API reference: ${ORIGIN}/docs`);
  console.log(`\n${lines.map((line) => line && `  ${line}`).join("\n")}\n`);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Six missed calls of `reportAlive`. */
const SILENT_MS = 30_000;

/**
 * For a worker that runs alone.
 * @param heardAt the time of the worker's last message
 */
async function serveHealth(port: number, heardAt: () => number | undefined): Promise<{ stop(): Promise<void> }> {
  const connections = new pg.Pool({ connectionString: databaseUrl(), max: 1, connectionTimeoutMillis: 2_000 });
  const isAlive = () => Date.now() - (heardAt() ?? 0) < SILENT_MS;
  const server = createServer(async ({ method, url }, res) => {
    if (method !== "GET" && method !== "HEAD") return send(res, 405, { error: "Only GET is supported" });
    if (url === "/healthz") return isAlive() ? send(res, 200, { status: "ok" }) : send(res, 503, { status: "unavailable" });
    if (url !== "/readyz") return send(res, 404, { error: "This is a worker: it serves only /healthz and /readyz" });
    const database = (await isDatabaseUp(connections)) ? "up" : "down";
    const isReady = isAlive() && database === "up";
    return send(res, isReady ? 200 : 503, { status: isReady ? "ready" : "unavailable", database });
  });
  server.listen(port);
  await once(server, "listening").catch((cause: Error) => {
    throw new SettingsError(`WORKER_HEALTH_PORT: cannot listen on port ${port}: ${cause.message}`, { cause });
  });
  return {
    async stop() {
      server.closeAllConnections();
      await connections.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(res: ServerResponse, status: number, body: Record<string, string>): void {
  res.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" });
  res.end(JSON.stringify(body));
}

const ROOT = join(import.meta.dirname, "../..");
const SETTLE_MS = 200;

/** Next watches its own files, so they are not listed. */
const sources = {
  web: ["core", "api", "server", "packages"],
  worker: ["core", "worker", "packages"],
} as const;

function restartOnChanges(kept: Record<keyof typeof sources, Kept>, stopping: AbortSignal): void {
  for (const [name, folders] of Object.entries(sources) as [keyof typeof sources, readonly string[]][]) {
    let timer: NodeJS.Timeout | undefined;
    for (const folder of folders) {
      watch(join(ROOT, folder), { recursive: true, signal: stopping }, (_event, file) => {
        if (!file || !/\.(ts|json)$/.test(file) || /\.test\.ts$|node_modules/.test(file)) return;
        clearTimeout(timer);
        timer = setTimeout(() => {
          log().info(`${folder}/${file} changed; restarting the ${name} process`);
          void kept[name].restart();
        }, SETTLE_MS);
      });
    }
  }
}
