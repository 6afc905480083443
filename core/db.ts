import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { databaseUrl } from "./env.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { requireNoneHeld, whileHeld } from "./held-connection.ts";
import { log } from "./log.ts";

/**
 * One pool per process, shared by Prisma (everyday operations) and hand-written SQL (hot paths). It is kept on `globalThis`, because each
 * bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
 */
type Connections = { pool: pg.Pool; prisma: PrismaClient };
const keeper = globalThis as typeof globalThis & { keyhookConnections?: { open?: Connections | undefined } };
keeper.keyhookConnections ??= {};
const kept = keeper.keyhookConnections;

// With a stopped database requests must get a 503 soon, not hang until the client gives up.
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
  // Without a listener, an idle connection closed by the server would end the process.
  pool.on("error", (error) => log().warn({ err: error }, "database connection lost"));
  // The same for a checked-out connection between two statements, since the pool listens only to idle ones. Its next statement fails.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  kept.open = {
    pool,
    prisma: watched(new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: TRANSACTION })),
  };
  return kept.open;
}

/** The same client, whose transactions count as holding a connection (held-connection.ts). */
function watched(prisma: PrismaClient): PrismaClient {
  const begin = prisma.$transaction.bind(prisma) as (work: unknown, options?: object) => Promise<unknown>;
  const transaction = (work: unknown, options?: object) =>
    begin(typeof work === "function" ? (tx: Db) => whileHeld(() => work(tx)) : work, options);
  return Object.assign(prisma, { $transaction: transaction });
}

/** @throws SecondConnectionError in tests and development, within a transaction: everything in it must use its `tx` */
export function db(): PrismaClient {
  requireNoneHeld();
  return connections().prisma;
}

/** @throws SecondConnectionError as `db` */
export function pool(): pg.Pool {
  requireNoneHeld();
  return connections().pool;
}

/** Whether any caller is waiting for a connection now. */
export const isPoolExhausted = (): boolean => (kept.open?.pool.waitingCount ?? 0) > 0;

/**
 * Does `work` on one connection of the pool, for hand-written transactions and session locks. If it throws, the connection is closed, which
 * ends both.
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

/** A transaction's client, or the plain one: the parameter of operations that may be part of a larger one. */
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
  // The lookup of its host name can fail too, for example of a container.
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

/** The codes of an error and of its causes: Postgres's, and the one that Prisma's adapter wraps. */
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
 * Runs a transaction, and repeats it if Postgres ended it because of a deadlock: nothing of it was done, and the other transaction has
 * finished by then. `work` must do nothing outside its transaction.
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

/** Messages of pg, its pool and Prisma. The last: no connection was free in time, and the transaction did not begin. */
const DOWN_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Can't reach database server|the database system is|Unable to start a transaction in the given time/i;

/**
 * Whether an error means that the database is unavailable, or that others hold the needed connection or lock: the response is then 503 with
 * Retry-After, not 500.
 */
export function isDatabaseDown(error: unknown): boolean {
  if (databaseCodes(error).some((code) => DOWN.has(code))) return true;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (DOWN_MESSAGE.test(at.message)) return true;
    if ("errors" in at && Array.isArray(at.errors) && at.errors.some(isDatabaseDown)) return true;
  }
  return false;
}
