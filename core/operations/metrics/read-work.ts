import { db, pool } from "../../db.ts";
import { firstIdAt } from "../../ids.ts";
import type { AttemptOutcome } from "../../webhooks/vocabulary.ts";

export type Work = {
  events: { waiting: number; oldestAt: Date | null };
  deliveries: {
    due: number;
    oldestDueAt: Date | null;
    claimed: number;
    later: number;
    held: number;
  };
  runs: { waiting: number; running: number };
  replays: number;
  relays: { listening: number; waiting: number };
};

type Row = {
  events: number;
  oldestEvent: Date | null;
  due: number;
  oldestDue: Date | null;
  claimed: number;
  later: number;
  held: number;
  waitingRuns: number;
  runningRuns: number;
  replays: number;
  relaysListening: number;
  relaysWaiting: number;
};

/** Reads only indexes that contain no finished work. */
export async function readWork(): Promise<Work> {
  const { rows } = await pool().query<Row>(`
    SELECT e.*, q.*, r.*, (SELECT count(*)::int FROM webhook_replay WHERE finished_at IS NULL) AS replays,
           (SELECT count(*)::int FROM relay WHERE listening_until > now()) AS "relaysListening",
           (SELECT count(*)::int FROM relay_request WHERE answered_at IS NULL) AS "relaysWaiting"
      FROM (SELECT count(*)::int AS events, min(created_at) AS "oldestEvent" FROM event WHERE fanned_out_at IS NULL) e,
           (SELECT count(*) FILTER (WHERE due_at <= now() AND NOT is_claimed)::int AS due,
                   min(due_at) FILTER (WHERE due_at <= now() AND NOT is_claimed) AS "oldestDue",
                   count(*) FILTER (WHERE is_claimed)::int AS claimed,
                   count(*) FILTER (WHERE due_at > now() AND due_at < 'infinity' AND NOT is_claimed)::int AS later,
                   count(*) FILTER (WHERE due_at = 'infinity' AND NOT is_claimed)::int AS held
              FROM (SELECT due_at, claimed_until IS NOT NULL AND claimed_until > now() AS is_claimed FROM delivery_queue) d) q,
           (SELECT count(*) FILTER (WHERE stage = 'SCHEDULING')::int AS "waitingRuns",
                   count(*) FILTER (WHERE stage = 'RUNNING')::int AS "runningRuns" FROM job_run WHERE finished_at IS NULL) r`);
  const row = rows[0] as Row;
  return {
    events: { waiting: row.events, oldestAt: row.oldestEvent },
    deliveries: { due: row.due, oldestDueAt: row.oldestDue, claimed: row.claimed, later: row.later, held: row.held },
    runs: { waiting: row.waitingRuns, running: row.runningRuns },
    replays: row.replays,
    relays: { listening: row.relaysListening, waiting: row.relaysWaiting },
  };
}

export type RecentAttempts = {
  since: Date;
  byOutcome: Partial<Record<AttemptOutcome, number>>;
};

const HOUR_MS = 3600_000;
const COUNTED_MAX = 50_000;

export async function readAttempts(now = new Date()): Promise<RecentAttempts> {
  const from = new Date(now.getTime() - HOUR_MS);
  const rows = await db().$transaction(async (tx) => {
    // For a new day, the planner has no statistics, so it would read and sort the whole day.
    await tx.$executeRaw`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
      set_config('enable_bitmapscan', 'off', true)`;
    return tx.$queryRaw<{ outcome: AttemptOutcome; count: number; oldest: Date }[]>`
      SELECT outcome, count(*)::int AS count, min(started_at) AS oldest
      FROM (SELECT outcome, started_at FROM attempt WHERE id >= ${firstIdAt(from)} ORDER BY id DESC LIMIT ${COUNTED_MAX}) a
      GROUP BY outcome`;
  });
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const oldest = Math.min(...rows.map((row) => row.oldest.getTime()));
  return {
    since: total < COUNTED_MAX ? from : new Date(oldest),
    byOutcome: Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count])),
  };
}
