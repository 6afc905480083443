import { pool } from "../../db.ts";
import { currentParty } from "../../fair-queue/party.ts";
import { streamSlots } from "../../http/stream-slots.ts";
import { requestContext } from "../../log.ts";
import { followTail, type Page, type Tail } from "../../tail.ts";
import { isOver, JOB_LOG_CHANNEL, type JobStage } from "../stages.ts";

/** Lines may be very long, and a chunk may consist of line breaks only, so bytes and chunks are limited (S137). */
const END_BYTES = 1024 * 1024;
const END_CHUNKS = 1_000;

/**
 * The caller must have checked access.
 * @param most.lines does not count an unfinished line
 * @returns `isCut: true` if the log contains more before these chunks
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

/** Each reader may hold a page in memory. */
const PAGE_BYTES = 256 * 1024;
const PAGE_CHUNKS = 500;

/** The chunks and the stage are read at one moment, so that no chunk of an ended run is missing. */
async function readLogPage(runId: string, after: number): Promise<Page<LogChunk, JobStage, number> | undefined> {
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

/** @param requireStill is called before each page, because a reader may lose access while reading (S114) */
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

type LogUpdate = { chunks: readonly LogChunk[]; stage: JobStage };

type Follow = { after?: number; signal: AbortSignal };

const logs: Tail<LogChunk, JobStage, number> = {
  name: "job log",
  channel: JOB_LOG_CHANNEL,
  read: (runId, after = 0) => readLogPage(runId, after),
  cursorOf: ({ seq }) => seq,
  bytesOf: ({ text }) => Buffer.byteLength(text),
};

const stages: Tail<never, JobStage, number> = {
  name: "job stage",
  channel: JOB_LOG_CHANNEL,
  read: readStage,
  cursorOf: () => 0,
  bytesOf: () => 0,
};

/** Yields at least once. The caller must have checked access. */
export async function* followLog(runId: string, { after = 0, signal }: Follow): AsyncGenerator<LogUpdate> {
  let lastStage: JobStage | undefined;
  for await (const { entries: chunks, state: stage, isCut } of followTail(logs, runId, { after, signal })) {
    if (chunks.length > 0 || stage !== lastStage) yield { chunks, stage };
    lastStage = stage;
    if (isOver(stage) && !isCut) return;
  }
}

/** The caller must have checked access. */
export async function* followStage(runId: string, signal: AbortSignal): AsyncGenerator<JobStage> {
  for await (const { state: stage } of followTail(stages, runId, { signal })) {
    yield stage;
    if (isOver(stage)) return;
  }
}

async function readStage(runId: string): Promise<Page<never, JobStage, number> | undefined> {
  const { rows } = await pool().query<{ stage: JobStage }>("select stage from job_run where id = $1", [runId]);
  return rows[0] && { entries: [], end: 0, isCut: false, state: rows[0].stage };
}

const logStreams = ["stdout", "stderr", "system"] as const;
export type LogStream = (typeof logStreams)[number];

export type LogChunk = { seq: number; at: Date; stream: LogStream; text: string };

const LOGS_MAX_PER_PERSON = 10;

// The slots are on `globalThis`, because each bundle of Next has its own instance of this module.
const keeper = globalThis as typeof globalThis & { keyhookLogSlots?: ReturnType<typeof streamSlots> };

/** Call this before the stream begins, so that a refusal can be sent as an error response. */
export function takeLogSlot(): void {
  const whenClosed = requestContext.getStore()?.whenClosed;
  if (!whenClosed) return;
  keeper.keyhookLogSlots ??= streamSlots({
    perPerson: LOGS_MAX_PER_PERSON,
    inAll: 2_000,
    sentence: "You are following too many logs. Close one of them, or try again later.",
    retryAfterSeconds: 15,
  });
  whenClosed(keeper.keyhookLogSlots(currentParty().key));
}
