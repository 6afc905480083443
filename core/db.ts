import { hash } from "node:crypto";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { databaseCodes } from "./database-errors.ts";
import { SharedPool } from "./fair-queue/shared-pool.ts";
import { Prisma, PrismaClient } from "./generated/prisma/client.ts";
import { requireNoneHeld, whileHeld } from "./held-connection.ts";
import { openPool, STATEMENT_TIMEOUT_MS } from "./open-pool.ts";

/** Connections are kept on `globalThis`, because each bundle of Next has its own instance of this module. */
type Connections = { pool: SharedPool; pipelines: pg.Pool; direct: pg.Pool; prisma: PrismaClient };
type Kept = {
  open?: Connections | undefined;
  committed: WeakMap<Sql, (() => void)[]>;
};
const keeper = globalThis as typeof globalThis & { keyhookConnections?: Kept };
keeper.keyhookConnections ??= { committed: new WeakMap() };
const kept = keeper.keyhookConnections;
const { committed } = kept;

const POOL_SIZE = 16;
/** The disk limits these statements, so more connections would not help. */
const PIPELINES = { max: 4, connectionTimeoutMillis: 10_000, pipeline: true };
const DIRECT = { max: 3, connectionTimeoutMillis: 10_000, statement_timeout: 10 * 60_000, isDirect: true };
// With Prisma's own limits, sign-ups fail on a busy machine.
const TRANSACTION = { maxWait: 5_000, timeout: STATEMENT_TIMEOUT_MS };

function connections(): Connections {
  if (kept.open) return kept.open;
  const pool = openPool({ max: POOL_SIZE, application_name: "keyhook" }, SharedPool);
  const adapter = new PrismaPg(pool, { statementNameGenerator });
  kept.open = {
    pool,
    pipelines: openPool({ ...PIPELINES, application_name: "keyhook pipelines" }),
    direct: openPool({ ...DIRECT, application_name: "keyhook direct" }),
    prisma: watched(new PrismaClient({ adapter, transactionOptions: TRANSACTION })),
  };
  return kept.open;
}

/** Postgres knows prepared statements by these names (docs/decisions/105). */
const names = new Map<string, string>();
/** A statement with a list has a text for each length of the list. A prepared text takes about 60 KB per connection. */
const MOST_PARAMETERS = 16;
const MOST_NAMES = 300;

/** Statements with ORDER BY get no name. Their generic plan may read a whole table in that order to find a few rows. */
function statementNameGenerator({ sql, args }: { sql: string; args: unknown[] }): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const isNamed = names.size < MOST_NAMES && args.length <= MOST_PARAMETERS && !/\border by\b/i.test(sql);
  return isNamed ? nameOf(sql) : "";
}

function nameOf(text: string): string {
  const name = names.get(text) ?? hash("sha1", text);
  names.set(text, name);
  return name;
}

function watched(prisma: PrismaClient): PrismaClient {
  const begin = prisma.$transaction.bind(prisma) as (work: unknown, options?: object) => Promise<unknown>;
  const transaction = async (work: unknown, options?: object) => {
    if (typeof work !== "function") return begin(work, options);
    const next: (() => void)[] = [];
    const result = await begin((tx: Db) => {
      committed.set(tx, next);
      return whileHeld(() => work(tx));
    }, options);
    for (const each of next) each();
    return result;
  };
  return Object.assign(prisma, { $transaction: transaction });
}

/**
 * Within a transaction, use the transaction's client instead.
 * @throws SecondConnectionError in tests and development, if a transaction is open
 */
export function db(): PrismaClient {
  requireNoneHeld();
  return connections().prisma;
}

export function pool(): pg.Pool {
  requireNoneHeld();
  return connections().pool;
}

export const isPoolExhausted = (): boolean => kept.open?.pool.isAwaited ?? false;

/** Use the connection for one transaction only. A pooler may give the next transaction another server connection. */
export async function withConnection<T>(work: (client: pg.PoolClient) => Promise<T>, from = pool()): Promise<T> {
  const client = await from.connect();
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

/** For session locks and for work that takes minutes. */
export function withDirectConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  requireNoneHeld();
  return withConnection(work, connections().direct);
}

/** Calls `next` after the transaction commits, and never if it fails. Outside a transaction, `next` is called at once. */
export function afterCommit(tx: Sql, next: () => void): void {
  const waiting = committed.get(tx);
  if (waiting) waiting.push(next);
  else next();
}

export type Db = Omit<PrismaClient, "$connect" | "$disconnect" | "$on" | "$transaction" | "$extends">;

export type Sql = {
  $queryRaw<Rows = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows>;
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
};

/**
 * The statements' texts must not vary with the values.
 * @param work returns a function that must send the last statements at once, because COMMIT is sent right after its call
 */
export async function inPreparedTransaction<T>(work: (tx: Sql) => Promise<() => Promise<T>>): Promise<T> {
  requireNoneHeld();
  const next: (() => void)[] = [];
  const transaction = async (client: pg.PoolClient): Promise<T> => {
    const tx = preparedOn(client);
    next.length = 0;
    committed.set(tx, next);
    writeTogether(client);
    const [, finish] = await Promise.all([client.query(BEGIN), work(tx)]);
    writeTogether(client);
    const [made] = await Promise.all([finish(), client.query("COMMIT")]);
    return made;
  };
  const result = await retryDeadlocks(() => withConnection(transaction, connections().pipelines));
  for (const each of next) each();
  return result;
}

/** Making custom plans takes longer than running them. The other settings keep generic plans good while small tables grow. */
const BEGIN = `BEGIN; ${[
  "plan_cache_mode = force_generic_plan",
  "enable_seqscan = off",
  "enable_hashjoin = off",
  "enable_mergejoin = off",
]
  .map((setting) => `SET LOCAL ${setting}`)
  .join("; ")}`;

/** Sends several statements in one write. By itself, pg would write each one separately. */
function writeTogether(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

function preparedOn(client: pg.PoolClient): Sql {
  const send = (query: TemplateStringsArray | Prisma.Sql, values: unknown[]) => {
    const { text, values: all } = "raw" in query ? Prisma.sql(query, ...values) : query;
    return client.query({ name: nameOf(text), text, values: all });
  };
  return {
    $queryRaw: async <Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      (await send(query, values)).rows as Rows,
    $executeRaw: async (query, ...values) => (await send(query, values)).rowCount ?? 0,
  };
}

export const isTransaction = (tx: Db): boolean => tx !== connections().prisma;

export async function closeConnections(): Promise<void> {
  const { open } = kept;
  if (!open) return;
  kept.open = undefined;
  await open.prisma.$disconnect();
  await Promise.all([open.pool.end(), open.pipelines.end(), open.direct.end()]);
}

const DEADLOCK = "40P01";
const MOST_TRIES = 3;
/** Without a pause, two retries could deadlock again. */
const PAUSE_MS = 20;

/** `run` must do nothing outside the database, because it may run several times. */
export async function retryDeadlocks<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (tries === MOST_TRIES || !databaseCodes(error).includes(DEADLOCK)) throw error;
      await sleep(PAUSE_MS * Math.random() * tries);
    }
  }
}

export const inTransaction = <T>(work: (tx: Db) => Promise<T>, options?: { timeout: number }): Promise<T> =>
  retryDeadlocks(() => db().$transaction(work, options));
