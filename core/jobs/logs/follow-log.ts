import { pool } from "../../db.ts";
import { listen } from "../../notifications.ts";
import { isOver, JOB_LOG_CHANNEL, type JobStage } from "../stages.ts";
import type { LogChunk } from "./log-chunk.ts";
import { readLog } from "./read-log.ts";

/** What there is to say: more of the log, or another stage. */
export type LogNews = { chunks: LogChunk[]; stage: JobStage };

type Follow = { after?: number; signal: AbortSignal };

// A notification may be missed, and none comes while the connection is away.
const POLL_MS = 5_000;
const PAGE = 500;

/**
 * The log of a run as it is written, from a chunk on, until the run is over and all was told, or `signal` aborts. Always tells at
 * least once. Whoever calls has found the run (`findRun`).
 */
export async function* followLog(runId: string, { after = 0, signal }: Follow): AsyncGenerator<LogNews> {
  const follower = follow(runId);
  await listening();
  let seen = after;
  let told: JobStage | undefined;
  try {
    while (!signal.aborted) {
      const news = follower.next(signal);
      // The stage first: what is written before a run is over is there when it is.
      const stage = await stageOf(runId);
      if (stage === undefined) return;
      const chunks = await readLog(runId, { after: seen, limit: PAGE });
      seen = chunks.at(-1)?.seq ?? seen;
      if (chunks.length > 0 || stage !== told) yield { chunks, stage };
      told = stage;
      if (chunks.length === PAGE) continue;
      if (isOver(stage)) return;
      await news;
    }
  } finally {
    follower.close();
  }
}

async function stageOf(runId: string): Promise<JobStage | undefined> {
  const { rows } = await pool().query<{ stage: JobStage }>("select stage from job_run where id = $1", [runId]);
  return rows[0]?.stage;
}

/** Who waits for news of which run: one listener for the whole process. */
const waiting = new Map<string, Set<() => void>>();
let listens: Promise<void> | undefined;

function listening(): Promise<void> {
  listens ??= listen(JOB_LOG_CHANNEL, (runId) => {
    const sets = runId === "" ? [...waiting.values()] : [waiting.get(runId) ?? []];
    for (const set of sets) for (const wake of set) wake();
  });
  return listens;
}

function follow(runId: string) {
  let wake: () => void = () => undefined;
  const onNews = () => wake();
  const set = waiting.get(runId) ?? new Set();
  waiting.set(runId, set.add(onNews));
  return {
    /** Resolves with the next news from now on, after a while without any, or when it is aborted. */
    next(signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, POLL_MS);
        signal.addEventListener("abort", done);
        wake = done;
      });
    },
    close() {
      wake();
      set.delete(onNews);
      if (set.size === 0 && waiting.get(runId) === set) waiting.delete(runId);
    },
  };
}
