import { db } from "../../db.ts";
import { firstIdAt } from "../../ids.ts";
import type { AttemptOutcome } from "../../webhooks/vocabulary.ts";

/** How the attempts of the last hour ended. */
export type RecentAttempts = {
  /** Start of the count: an hour ago, or later if there were more than the limit. */
  since: Date;
  byOutcome: Partial<Record<AttemptOutcome, number>>;
};

const HOUR_MS = 3600_000;
/** So that an hour of a very busy installation is counted quickly. */
const COUNTED_MAX = 50_000;

/** Along the primary key, which sorts by time, from the newest back. */
export async function readAttempts(now = new Date()): Promise<RecentAttempts> {
  const from = new Date(now.getTime() - HOUR_MS);
  const rows = await db().$transaction(async (tx) => {
    // For a day that has just begun the planner has no statistics, and would read and sort all of it.
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
