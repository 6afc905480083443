import { pool } from "../../db.ts";
import { JOB_LOG_CHANNEL } from "../stages.ts";
import type { LogChunk } from "./log-chunk.ts";

export type NewChunk = Omit<LogChunk, "seq">;

/**
 * Adds chunks to a run's log under its claim, and notifies its followers. Output of a worker that has lost its claim is dropped.
 * @returns whether the claim still holds
 */
export async function appendLog(runId: string, claimId: string, chunks: readonly NewChunk[]): Promise<boolean> {
  const { rowCount } = await pool().query(
    `with run as (
       update job_run set log_bytes = log_bytes + $3 where id = $1 and claim_id = $2 returning id
     ), last as (
       select coalesce(max(seq), 0) as seq from job_log where run_id = $1
     ), added as (
       insert into job_log (run_id, seq, at, stream, text)
       select run.id, last.seq + chunk.number, chunk.at, chunk.stream, chunk.text from run, last,
         unnest($4::timestamptz[], $5::text[], $6::text[]) with ordinality as chunk (at, stream, text, number)
     )
     select pg_notify($7, id) from run`,
    [
      runId,
      claimId,
      chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
      chunks.map(({ at }) => at),
      chunks.map(({ stream }) => stream),
      chunks.map(({ text }) => text),
      JOB_LOG_CHANNEL,
    ],
  );
  return rowCount === 1;
}
