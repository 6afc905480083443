import { EventEmitter } from "node:events";
import { createServer, type Server, type ServerOptions } from "node:http";
import next from "next";
import { ensureSetupLink } from "#core/accounts/setup-link.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { closeConnections } from "#core/db.ts";
import { env } from "#core/env.ts";
import { startGitLauncher } from "#core/hub/git/git-launcher.ts";
import { CANNOT_START, releaseStartMemory, stopOnSignal } from "#core/instance/process-lifecycle.ts";
import { log } from "#core/log.ts";
import { stopListening } from "#core/notifications.ts";
import { flushUsage } from "#core/oauth/apps/count-usage.ts";
import { ensureCliApp } from "#core/oauth/apps/create-app.ts";
import { startOwnProcess } from "#core/operations/metrics/process-metrics.ts";
import { startTraces } from "#core/operations/traces/start-traces.ts";
import { keepSweepingTemporaryFolders } from "#core/temporary-folder.ts";
import { finishRequests } from "./server/connections.ts";
import type { Door } from "./server/dispatch.ts";
import { handleRequest } from "./server/handle-request.ts";
import { isAppSocket, serveAppSocket } from "./server/spaces/serve-app-socket.ts";

const { PORT, NODE_ENV } = env();

// A proxy must close an idle connection before this server does. Otherwise the proxy may send a request over a closed connection.
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 60_000;

const ENSURE_AGAIN_MS = 2_000;

let pages: Door | undefined;
const options: ServerOptions = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: HEADERS_MS,
  // limit-time.ts has limits that depend on the body.
  requestTimeout: 0,
  // Next would leave the socket of an upgrade open forever (S137).
  shouldUpgradeCallback: (req) => NODE_ENV === "development" || isAppSocket(req),
};
const server = createServer(options, (req, res) => handleRequest(pages as Door, req, res));
server.on("error", (error: NodeJS.ErrnoException) => {
  const reason = error.code === "EADDRINUSE" ? `port ${PORT} is in use; set PORT to another one` : error.message;
  log().fatal(`cannot listen: ${reason}`);
  process.exit(CANNOT_START);
});

const upgrades = new EventEmitter();
server.on("upgrade", (req, socket, head) => {
  if (isAppSocket(req)) void serveAppSocket(req, socket, head);
  else if (!upgrades.emit("upgrade", req, socket, head)) socket.destroy();
});
const app = next({
  dev: NODE_ENV === "development",
  dir: import.meta.dirname,
  httpServer: upgrades as unknown as Server,
  port: PORT,
});
await app.prepare();
pages = app.getRequestHandler();

const stopping = new AbortController();
await ensureSoon();

async function ensureSoon(): Promise<void> {
  await ensureCliApp().catch((error: unknown) => {
    if (!isDatabaseDown(error)) throw error;
    log().warn({ err: error }, "cannot create the app of the command line yet; trying again");
    setTimeout(() => stopping.signal.aborted || void ensureSoon(), ENSURE_AGAIN_MS).unref();
  });
}

const stopGitLauncher = await startGitLauncher();
// A separate container has its own /tmp, which no worker sweeps.
keepSweepingTemporaryFolders();
const own = startOwnProcess("web");
const traces = await startTraces("web");
const setupLink = process.argv.includes("--setup-link") ? await ensureSetupLink() : undefined;
server.listen(PORT, () => {
  log().info(`listening on port ${PORT}`);
  process.send?.({ setupLink });
  releaseStartMemory();
});

stopOnSignal(async () => {
  stopping.abort();
  await finishRequests(server);
  stopGitLauncher();
  await app.close();
  await stopListening();
  await own.stop();
  await traces.stop();
  await flushUsage();
  await closeConnections();
});
