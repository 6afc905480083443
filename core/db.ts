import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { databaseUrl } from "./env.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { requireNoneHeld, whileHeld } from "./held-connection.ts";
import { log } from "./log.ts";

/**
 * One pool a process, shared by Prisma (everyday operations) and by hand-written SQL (hot paths). It is kept on
 * `globalThis`, because each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
 */
type Connections = { pool: pg.Pool; prisma: PrismaClient };
const keeper = globalThis as typeof globalThis & { keyhookConnections?: { open?: Connections | undefined } };
keeper.keyhookConnections ??= {};
const kept = keeper.keyhookConnections;

// A stopped database must answer 503 soon, not hold requests until the client gives up.
const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const POOL_SIZE = 10;
// Prisma's own limits (2 s to begin, 5 s to end) fail sign-ups on a machine that is merely busy.
const TRANSACTION = { maxWait: 5_000, timeout: STATEMENT_TIMEOUT_MS };

function connections(): Connections {
  if (kept.open) return kept.open;
  const pool = new pg.Pool({
    connectionString: databaseUrl(),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: "keyhook",
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on("error", (error) => log().warn({ err: error }, "database connection lost"));
  // Nor one that is checked out and between two statements: the pool listens to idle ones only. Its next statement fails.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  kept.open = {
    pool,
    prisma: watched(new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: TRANSACTION })),
  };
  return kept.open;
}

/** The same client. What runs in its transactions counts as holding a connection (held-connection.ts). */
function watched(prisma: PrismaClient): PrismaClient {
  const begin = prisma.$transaction.bind(prisma) as (work: unknown, options?: object) => Promise<unknown>;
  const transaction = (work: unknown, options?: object) =>
    begin(typeof work === "function" ? (tx: Db) => whileHeld(() => work(tx)) : work, options);
  return Object.assign(prisma, { $transaction: transaction });
}

/** @throws SecondConnectionError in tests and development, in a transaction: what is part of one uses its `tx`, and nothing else */
export function db(): PrismaClient {
  requireNoneHeld();
  return connections().prisma;
}

/** @throws SecondConnectionError as `db` */
export function pool(): pg.Pool {
  requireNoneHeld();
  return connections().pool;
}

/** Whether somebody waits for a connection at this moment. */
export const isPoolExhausted = (): boolean => (kept.open?.pool.waitingCount ?? 0) > 0;

/**
 * Does `work` on one connection of the pool, for hand-written transactions and locks of a session. Where that fails, the connection is
 * closed, which ends both.
 */
export async function withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  let problem: Error | undefined;
  try {
    return await whileHeld(() => work(client));
  } catch (error) {
    problem = error as Error;
    throw error;
  } finally {
    client.release(problem);
  }
}

/** A transaction's client, or the plain one: what an operation takes when it may be part of a larger one. */
export type Db = Omit<PrismaClient, "$connect" | "$disconnect" | "$on" | "$transaction" | "$extends">;

export const isTransaction = (tx: Db): boolean => tx !== connections().prisma;

export async function closeConnections(): Promise<void> {
  const { open } = kept;
  if (!open) return;
  kept.open = undefined;
  await open.prisma.$disconnect();
  await open.pool.end();
}

/** PostgreSQL's code for `lock_timeout`: another transaction held a row or a lock for longer than this one waits (`lockRepo`). */
export const LOCK_TIMEOUT = "55P03";

/** PostgreSQL's code for `statement_timeout`. */
export const QUERY_CANCELED = "57014";

const DOWN = new Set<unknown>([
  LOCK_TIMEOUT,
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  // Where it has a name, a container's say, the name goes with it.
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "57P01",
  "57P02",
  "57P03",
  "08006",
  "08001",
  "08003",
  "P1001",
  "P1002",
  "P1017",
]);

/** The codes of an error and of what caused it: Postgres's and, of Prisma's adapter, the one it wraps. */
export function databaseCodes(error: unknown): unknown[] {
  const codes: unknown[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code, cause } = at as { code?: unknown; cause?: { originalCode?: unknown } };
    const meta = (at as { meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } } }).meta;
    codes.push(code, cause?.originalCode, meta?.driverAdapterError?.cause?.originalCode);
  }
  return codes.filter((code) => code !== undefined);
}

const DEADLOCK = "40P01";
const MOST_TRIES = 3;

/**
 * A transaction that is begun again where Postgres ended it for a deadlock: nothing of it was done, and what it met is done by then.
 * `work` must do nothing outside its transaction.
 */
export async function inTransaction<T>(work: (tx: Db) => Promise<T>, options?: { timeout: number }): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db().$transaction(work, options);
    } catch (error) {
      if (tries === MOST_TRIES || !databaseCodes(error).includes(DEADLOCK)) throw error;
    }
  }
}

/** As pg, its pool and Prisma put it. The last: no connection was free in time, and nothing of the transaction was begun. */
const DOWN_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Can't reach database server|the database system is|Unable to start a transaction in the given time/i;

/** Whether an error means that the database is away, or that others hold the connection or lock that was needed: the answer is 503 with Retry-After, not 500. */
export function isDatabaseDown(error: unknown): boolean {
  if (databaseCodes(error).some((code) => DOWN.has(code))) return true;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (DOWN_MESSAGE.test(at.message)) return true;
    if ("errors" in at && Array.isArray(at.errors) && at.errors.some(isDatabaseDown)) return true;
  }
  return false;
}
