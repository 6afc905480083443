import { pool } from "../../db.ts";
import { followTail, type Page, type Tail } from "../../tail.ts";
import { isOver, JOB_LOG_CHANNEL, type JobStage } from "../stages.ts";
import type { LogChunk } from "./log-chunk.ts";
import { readLogPage } from "./read-log.ts";

/** News for a follower: more of the log, or another stage. */
export type LogNews = { chunks: readonly LogChunk[]; stage: JobStage };

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

/**
 * Follows a run's log from a chunk on, until the run is over and everything was yielded, or `signal` aborts. Yields at least once. The
 * caller has found the run (`findRun`).
 */
export async function* followLog(runId: string, { after = 0, signal }: Follow): AsyncGenerator<LogNews> {
  let told: JobStage | undefined;
  for await (const { entries: chunks, state: stage, isCut } of followTail(logs, runId, { after, signal })) {
    if (chunks.length > 0 || stage !== told) yield { chunks, stage };
    told = stage;
    if (isOver(stage) && !isCut) return;
  }
}

/** The stages of a run, starting with its current one, until it is over or `signal` aborts. The caller has found the run. */
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
