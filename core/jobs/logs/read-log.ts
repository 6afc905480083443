import { pool } from "../../db.ts";
import type { LogChunk } from "./log-chunk.ts";

export type LogRange = {
  /** Chunks after this one; 0: from the start. */
  after?: number;
  /** Only the last so many of what there is. */
  tail?: number;
  /** At most 1,000; default 500. */
  limit?: number;
};

const LIMIT_MAX = 1_000;

/** Chunks of a run's log in their order. Whoever calls has found the run (`findRun`). */
export async function readLog(runId: string, { after = 0, tail, limit = 500 }: LogRange = {}): Promise<LogChunk[]> {
  const most = Math.min(Math.max(1, Math.trunc(tail ?? limit)), LIMIT_MAX);
  const order = tail === undefined ? "asc" : "desc";
  const { rows } = await pool().query<LogChunk>(
    `select seq, at, stream, text from job_log where run_id = $1 and seq > $2 order by seq ${order} limit $3`,
    [runId, after, most],
  );
  return tail === undefined ? rows : rows.reverse();
}
