import type { ServerResponse } from "node:http";
import { pool } from "#core/db.ts";
import { isDatabaseUp } from "#core/postgres/availability.ts";
import { type Migration, readMigrations } from "#core/postgres/migrations.ts";
import { pendingMigrations } from "#core/postgres/pending-migrations.ts";
import { RETRY_AFTER_SECONDS, sendJson } from "./send.ts";

/** `GET /healthz`: the process responds. Restart it when this fails. */
export function sendHealth(res: ServerResponse): void {
  sendJson(res, 200, { status: "ok" });
}

/** `GET /readyz`: the database answers and has this version's schema. Send no traffic while this fails. */
export async function sendReadiness(res: ServerResponse): Promise<void> {
  if (!(await isDatabaseUp())) return sendUnready(res, { database: "down", migrations: "unknown" });
  try {
    const pending = await lookForPending();
    if (pending.length > 0) return sendUnready(res, { database: "up", migrations: "pending" });
  } catch {
    return sendUnready(res, { database: "down", migrations: "unknown" });
  }
  sendJson(res, 200, { status: "ready", database: "up", migrations: "applied" });
}

/** The files do not change while a process runs. */
let migrations: Migration[] | undefined;
let looking: Promise<string[]> | undefined;

/** Anybody may request this as often as they like, without pacing: one query answers all who ask meanwhile (S137). */
function lookForPending(): Promise<string[]> {
  migrations ??= readMigrations();
  looking ??= pendingMigrations(pool(), migrations).finally(() => {
    looking = undefined;
  });
  return looking;
}

function sendUnready(res: ServerResponse, found: { database: string; migrations: string }): void {
  res.setHeader("Retry-After", RETRY_AFTER_SECONDS);
  sendJson(res, 503, { status: "unavailable", ...found });
}
