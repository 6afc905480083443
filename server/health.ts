import type { IncomingMessage, ServerResponse } from "node:http";
import { pool } from "#core/db.ts";
import { isServiceError } from "#core/errors.ts";
import { requestContext } from "#core/log.ts";
import { readMetrics } from "#core/operations/metrics/read-metrics.ts";
import { isDatabaseUp } from "#core/postgres/availability.ts";
import { type Migration, pendingMigrations, readMigrations } from "#core/postgres/migrate.ts";
import { RETRY_AFTER_SECONDS, sendJson } from "./send.ts";

/** For a probe that restarts the process. */
export function sendHealth(res: ServerResponse): void {
  sendJson(res, 200, { status: "ok" });
}

/** For a probe that stops traffic. */
export async function sendReadiness(res: ServerResponse): Promise<void> {
  if (!(await isDatabaseUp(pool()))) return sendUnready(res, { database: "down", migrations: "unknown" });
  try {
    const pending = await lookForPending();
    if (pending.length > 0) return sendUnready(res, { database: "up", migrations: "pending" });
  } catch {
    return sendUnready(res, { database: "down", migrations: "unknown" });
  }
  sendJson(res, 200, { status: "ready", database: "up", migrations: "applied" });
}

let migrations: Migration[] | undefined;
let check: Promise<string[]> | undefined;

/** One query answers all simultaneous requests, so it must not wait behind other requests of the first caller (S137). */
function lookForPending(): Promise<string[]> {
  migrations ??= readMigrations();
  check ??= requestContext.exit(pendingMigrations, pool(), migrations).finally(() => {
    check = undefined;
  });
  return check;
}

function sendUnready(res: ServerResponse, found: { database: string; migrations: string }): void {
  res.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  sendJson(res, 503, { status: "unavailable", ...found });
}

export async function sendMetrics(req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const { contentType, text } = await readMetrics(req.headers.authorization);
    res.writeHead(200, { "Content-Type": contentType, "Cache-Control": "no-store" }).end(text);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.code === "unauthorized") res.setHeader("WWW-Authenticate", "Bearer");
    sendJson(res, error.status, { error: error.code, error_description: error.message });
  }
}
