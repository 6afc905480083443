import { pool } from "../../db.ts";
import type { Page } from "../../tail.ts";
import type { JobStage } from "../stages.ts";
import type { LogChunk } from "./log-chunk.ts";

/** Limits for the end of a log: a chunk may consist of line breaks only, so lines are counted too (S137). */
const END_BYTES = 1024 * 1024;
const END_CHUNKS = 1_000;

/**
 * The end of a run's log: its last chunks, the first without its surplus lines. The caller has found the run (`findRun`).
 * @param most.lines how many whole lines at most; an unfinished line comes in addition
 * @param most.bytes of whole chunks; 1 MiB unless given
 * @returns `isCut`: whether there is more before
 */
export async function readLogEnd(
  runId: string,
  most: { lines: number; bytes?: number },
): Promise<{ chunks: LogChunk[]; isCut: boolean }> {
  const { rows } = await pool().query<LogChunk>(
    `select seq, at, stream, text from (
       select *, sum(octet_length(text)) over (order by seq desc) - octet_length(text) as after
       from (select seq, at, stream, text from job_log where run_id = $1 order by seq desc limit ${END_CHUNKS}) as last
     ) as counted where after < $2 order by seq desc`,
    [runId, most.bytes ?? END_BYTES],
  );
  const chunks: LogChunk[] = [];
  let lines = 0;
  for (const chunk of rows) {
    const { text } = chunk;
    for (let at = text.lastIndexOf("\n"); at >= 0; at = at > 0 ? text.lastIndexOf("\n", at - 1) : -1) {
      lines++;
      if (lines <= most.lines) continue;
      if (at + 1 < text.length) chunks.unshift({ ...chunk, text: text.slice(at + 1) });
      return { chunks, isCut: true };
    }
    chunks.unshift(chunk);
  }
  return { chunks, isCut: (chunks[0]?.seq ?? 1) > 1 };
}

/** A page ends with the chunk that reaches this size: each reader of a log may hold one in memory. */
const PAGE_BYTES = 256 * 1024;
const PAGE_CHUNKS = 500;

/** The chunks after one, and the run's stage, read at one moment: if the run is over by then, no chunk is missing. */
export async function readLogPage(runId: string, after: number): Promise<Page<LogChunk, JobStage, number> | undefined> {
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

/**
 * Everything that a run has printed so far, a page at a time.
 * @param requireStill asks before each page whether the reader may still read it: readers take as long as they like (S114)
 */
export async function* readWholeLog(runId: string, requireStill: () => Promise<unknown>): AsyncGenerator<readonly LogChunk[]> {
  for (let after = 0; ; ) {
    await requireStill();
    const page = await readLogPage(runId, after);
    if (!page) return;
    yield page.entries;
    if (!page.isCut) return;
    after = page.end;
  }
}
