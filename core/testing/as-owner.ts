import pg from "pg";
import { expect } from "vitest";
import { databaseUrl, env } from "../env.ts";

export async function asOwner(sql: string): Promise<void> {
  const client = await connectAsOwner();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function connectAsOwner(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: env().DATABASE_OWNER_URL ?? databaseUrl() });
  await client.connect();
  return client;
}

/** Within a transaction, pg_stat_activity is a snapshot. */
async function countWaiting(client: pg.Client): Promise<number | null> {
  await client.query("select pg_stat_clear_snapshot()");
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await client.query(waiting)).rowCount;
}

/**
 * The operations wait in the given order.
 * @param lock the statement that acquires the lock
 */
export async function queueForLock<T>(lock: string, operations: readonly (() => Promise<T>)[]): Promise<Promise<T>[]> {
  const client = await connectAsOwner();
  try {
    await client.query("begin");
    await client.query(lock);
    const acting: Promise<T>[] = [];
    for (const operation of operations) {
      acting.push(operation());
      acting.at(-1)?.catch(() => undefined);
      await expect.poll(() => countWaiting(client), { timeout: 30_000 }).toBe(acting.length);
    }
    await client.query("commit");
    return acting;
  } finally {
    await client.end();
  }
}

/**
 * Makes Postgres end the transaction of `other`.
 * @param first acquires the lock that `other` will wait for
 * @param last waits for a lock that `other` then holds
 */
export async function deadlock<T>(first: string, other: () => Promise<T>, last: string): Promise<T> {
  const client = await connectAsOwner();
  try {
    await client.query("begin");
    await client.query("set local deadlock_timeout = '1min'");
    await client.query(first);
    const acting = other();
    acting.catch(() => undefined);
    // Postgres looks for a deadlock once, a second after `other` has begun to wait.
    await expect.poll(() => countWaiting(client), { interval: 5 }).toBeGreaterThan(0);
    await client.query(last);
    await client.query("commit");
    return acting;
  } finally {
    await client.end();
  }
}
