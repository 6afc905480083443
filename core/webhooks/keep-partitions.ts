import type pg from "pg";
import { withDirectConnection } from "../db.ts";
import { env } from "../env.ts";

/** Partitions are made this far ahead, so that a week without a worker does no harm. */
const DAYS_AHEAD = 7;
const DAY_MS = 24 * 60 * 60 * 1_000;

type KeptPartitions = {
  made: number;
  dropped: string[];
};

/**
 * A partition's transaction gives up instead of making others wait.
 * @param now for tests
 */
export async function keepPartitions(now = Date.now()): Promise<KeptPartitions> {
  return withDirectConnection(async (client) => {
    const made = await makePartitions(client, now);
    const dropped = await dropPartitions(client, dayOf(now - env().WEBHOOK_KEEP_DAYS * DAY_MS));
    return { made, dropped };
  });
}

async function makePartitions(client: pg.ClientBase, now: number): Promise<number> {
  let made = 0;
  const days = new Set(await strayDays(client));
  for (let ahead = -1; ahead <= DAYS_AHEAD; ahead++) days.add(dayOf(now + ahead * DAY_MS));
  for (const day of [...days].sort()) {
    const { rows } = await client.query<{ made: number }>("select make_delivery_partitions($1::date, $1::date) as made", [day]);
    made += rows[0]?.made ?? 0;
  }
  return made;
}

async function strayDays(client: pg.ClientBase): Promise<string[]> {
  const days = new Set<string>();
  for (const table of ["delivery_default", "attempt_default"]) {
    for (let from = ""; ; ) {
      const { rows } = await client.query<{ id: string }>(`select id from ${table} where id >= $1 order by id limit 1`, [from]);
      const [row] = rows;
      if (!row) break;
      const at = Number.parseInt(row.id.slice(0, 8), 16) * 1_000;
      days.add(dayOf(at));
      from = Math.floor((at - (at % DAY_MS) + DAY_MS) / 1_000)
        .toString(16)
        .padStart(8, "0");
    }
  }
  return [...days];
}

async function dropPartitions(client: pg.ClientBase, before: string): Promise<string[]> {
  const dropped: string[] = [];
  for (;;) {
    const { rows } = await client.query<{ names: string[] }>("select drop_delivery_partitions($1::date) as names", [before]);
    const names = rows[0]?.names ?? [];
    if (names.length === 0) return dropped;
    dropped.push(...names);
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
