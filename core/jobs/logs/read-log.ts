import { pool } from "../../db.ts";
import type { JobStage } from "../stages.ts";
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

/** A page ends with the chunk that reaches this: each reader of a log may hold one in memory. */
const PAGE_BYTES = 256 * 1024;
const PAGE_CHUNKS = 500;

export type LogPage = {
  entries: LogChunk[];
  /** The last chunk's number; where there is none `after`, but never past the end. */
  end: number;
  isCut: boolean;
  state: JobStage;
};

/** Chunks after one, and the run's stage, as they were at one moment: of a run that is over then, all chunks were there. */
export async function readLogPage(runId: string, after: number): Promise<LogPage | undefined> {
  type Row = { stage: JobStage; last: number } & (LogChunk | { seq: null });
  const { rows } = await pool().query<Row>({
    name: "read-log-page",
    text: `select run.stage, coalesce((select max(seq) from job_log where run_id = run.id), 0) as last, chunk.*
      from job_run run left join lateral (
        select seq, at, stream, text from (
          select *, sum(octet_length(text)) over (order by seq) - octet_length(text) as before
          from (select seq, at, stream, text from job_log where run_id = run.id and seq > $2 order by seq limit ${PAGE_CHUNKS}) as next
        ) as counted where before < ${PAGE_BYTES}
      ) as chunk on true
      where run.id = $1 order by chunk.seq`,
    values: [runId, after],
  });
  const [first] = rows;
  if (!first) return undefined;
  const entries = rows.flatMap((row) =>
    row.seq === null ? [] : [{ seq: row.seq, at: row.at, stream: row.stream, text: row.text }],
  );
  const end = entries.at(-1)?.seq ?? Math.min(after, first.last);
  return { entries, end, isCut: end < first.last, state: first.stage };
}
