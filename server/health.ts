import type { ServerResponse } from "node:http";
import { pool } from "#core/db.ts";
import { isDatabaseUp } from "#core/postgres/availability.ts";
import { pendingMigrations } from "#core/postgres/pending-migrations.ts";
import { RETRY_AFTER_SECONDS, sendJson } from "./send.ts";

/** `GET /healthz`: the process answers. Restart it when this fails. */
export function sendHealth(res: ServerResponse): void {
  sendJson(res, 200, { status: "ok" });
}

/** `GET /readyz`: the database answers and has this version's schema. Send no traffic while this fails. */
export async function sendReadiness(res: ServerResponse): Promise<void> {
  if (!(await isDatabaseUp())) return sendUnready(res, { database: "down", migrations: "unknown" });
  try {
    const pending = await pendingMigrations(pool());
    if (pending.length > 0) return sendUnready(res, { database: "up", migrations: "pending" });
  } catch {
    return sendUnready(res, { database: "down", migrations: "unknown" });
  }
  sendJson(res, 200, { status: "ready", database: "up", migrations: "applied" });
}

function sendUnready(res: ServerResponse, found: { database: string; migrations: string }): void {
  res.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  sendJson(res, 503, { status: "unavailable", ...found });
}
