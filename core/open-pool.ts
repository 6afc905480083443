import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import pg from "pg";
import { CHANGED_RESULT, READ_ONLY } from "./database-errors.ts";
import { databaseUrl, directDatabaseUrl, env } from "./env.ts";
import { log } from "./log.ts";

// While the database is stopped, requests must soon get a 503.
const CONNECT_TIMEOUT_MS = 3_000;
export const STATEMENT_TIMEOUT_MS = 15_000;
/** A live server may take this much longer than the statement's timeout to end a statement. */
const PATIENCE_MS = 5_000;

/** The server has become a standby, or a migration changed a column that a prepared statement returns. */
const ENDING = new Set<string | undefined>([READ_ONLY, CHANGED_RESULT]);

type PoolOptions = pg.PoolConfig & {
  application_name: string;
  /** Set this for connections with session state or long use, which must bypass a pooler. */
  isDirect?: boolean;
  statement_timeout?: number;
};

export function openPool(options: PoolOptions): pg.Pool;
export function openPool<Pool extends pg.Pool>(options: PoolOptions, Kind: new (options: pg.PoolConfig) => Pool): Pool;
export function openPool(given: PoolOptions, Kind: new (options: pg.PoolConfig) => pg.Pool = pg.Pool): pg.Pool {
  const { isDirect = false, statement_timeout = STATEMENT_TIMEOUT_MS, ...options } = given;
  const isPooled = !isDirect && env().DATABASE_DIRECT_URL !== undefined;
  const pool = new Kind({
    connectionString: isDirect ? directDatabaseUrl() : databaseUrl(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    stream: () => socketEndingWhenSilent(statement_timeout + PATIENCE_MS),
    // Poolers refuse this parameter, so the role has the limit instead.
    ...(isPooled ? { Client: PooledClient } : { statement_timeout }),
    ...options,
    // The pool waits for this promise, although its type does not say so.
    onConnect: (client) => prepare(client as pg.Client),
  });
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on("error", (error) => log().warn({ err: error }, "database connection lost"));
  const unusable = new WeakSet<pg.ClientBase>();
  pool.on("connect", (client) => {
    // The pool listens only to idle connections.
    client.on("error", () => undefined);
    client.connection.on("errorMessage", ({ code }: { code?: string }) => void (ENDING.has(code) && unusable.add(client)));
  });
  // Prisma returns a connection whose transaction failed. After these errors, nobody else may get the connection.
  pool.on("release", (_error, client) => void (unusable.has(client) && client.end()));
  return pool;
}

/** The kernel of a frozen server's machine still acknowledges data, so only silence shows that the server hangs. */
export function socketEndingWhenSilent(ms: number): Socket {
  const socket = new Socket();
  const problem = Object.assign(new Error("the database did not respond in time"), { code: "ETIMEDOUT" });
  return socket.setTimeout(ms, () => socket.destroy(problem));
}

/** During a switchover, an address may lead to a standby, which would return old data. */
async function prepare(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"');
  if (rows[0]?.isStandby) throw Object.assign(new Error("the database is a standby"), { code: READ_ONLY });
  if (client instanceof PooledClient) client.isNaming = await canName(client);
}

/** Not every pooler supports names of prepared statements. */
class PooledClient extends pg.Client {
  isNaming = false;

  // biome-ignore lint/suspicious/noExplicitAny: `query` has eight signatures, and this passes all of them on.
  override query(...[query, ...rest]: any[]): any {
    const { name } = query;
    return super.query(name && !this.isNaming ? { ...query, name: undefined } : query, ...(rest as []));
  }
}

/** PgBouncer with max_prepared_statements renames statements, so the server does not know the original names. */
async function canName(client: PooledClient): Promise<boolean> {
  const name = `keyhook ${randomUUID()}`;
  client.isNaming = true;
  await client.query("begin");
  const text = 'select exists (select from pg_prepared_statements where name = $1) as "isOurs"';
  const { rows } = (await client.query({ name, text, values: [name] })) as pg.QueryResult<{ isOurs: boolean }>;
  if (rows[0]?.isOurs) await client.query(`deallocate ${client.escapeIdentifier(name)}`);
  await client.query("commit");
  return rows[0]?.isOurs === false;
}
