import pg from "pg";
import { databaseUrl } from "../../env.ts";
import { log } from "../../log.ts";

/** For claims, for recording, and for renewals meanwhile. */
const POOL_SIZE = 4;
const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 15_000;

/**
 * Each statement of the engine touches a few hundred rows by key, in tables that grow and shrink faster than their statistics:
 * a plan made for an empty queue would read and sort all of a full one. These connections therefore exclude such plans.
 */
const PLANNING = "-c enable_seqscan=off -c enable_bitmapscan=off -c enable_mergejoin=off -c jit=off";

const keeper = globalThis as typeof globalThis & { keyhookDeliveryPool?: pg.Pool };

/** Connections of the delivery engine, separate from those that the rest of the process shares (core/db.ts). */
export function deliveryPool(): pg.Pool {
  if (keeper.keyhookDeliveryPool) return keeper.keyhookDeliveryPool;
  const pool = new pg.Pool({
    connectionString: databaseUrl(),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: "keyhook deliveries",
    options: PLANNING,
    allowExitOnIdle: true,
  });
  pool.on("error", (error) => log().warn({ err: error }, "database connection lost"));
  keeper.keyhookDeliveryPool = pool;
  return pool;
}

export async function closeDeliveryPool(): Promise<void> {
  const open = keeper.keyhookDeliveryPool;
  keeper.keyhookDeliveryPool = undefined;
  await open?.end();
}
