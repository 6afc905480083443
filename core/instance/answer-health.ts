import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { SettingsError } from "../env.ts";
import { isDatabaseUp } from "../postgres/availability.ts";

/** Four missed heartbeats, on a machine that may be busy. */
const SILENT_MS = 30_000;

/**
 * Health endpoints for a worker that runs alone, since it listens on no port itself: `GET /healthz` while it runs and its event loop turns,
 * `GET /readyz` while its database answers too. The web process answers these itself (server/health.ts).
 *
 * @param heardAt when the worker last sent a heartbeat
 * @throws {SettingsError} when it cannot listen there
 */
export async function answerHealth(port: number, heardAt: () => number | undefined): Promise<{ stop(): Promise<void> }> {
  const isAlive = () => Date.now() - (heardAt() ?? 0) < SILENT_MS;
  const server = createServer(async ({ method, url }, res) => {
    if (method !== "GET" && method !== "HEAD") return send(res, 405, { error: "Only GET is answered here" });
    if (url === "/healthz") return isAlive() ? send(res, 200, { status: "ok" }) : send(res, 503, { status: "unavailable" });
    if (url !== "/readyz") return send(res, 404, { error: "This is a worker: it answers /healthz and /readyz" });
    const database = (await isDatabaseUp()) ? "up" : "down";
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
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(res: ServerResponse, status: number, body: Record<string, string>): void {
  res.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" });
  res.end(JSON.stringify(body));
}
