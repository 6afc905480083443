import { setTimeout as delay } from "node:timers/promises";
import { reportRunner } from "#core/jobs/runners/report-runner.ts";
import { log } from "#core/log.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 60_000;

/** Reports every minute how this worker runs jobs, for the pages that offer it. */
export function startRunnerReport(): Loop {
  const stopping = new AbortController();

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      await reportRunner().catch((error: unknown) => log().warn({ err: error }, "cannot say how jobs are run; trying again"));
      await delay(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const cycling = cycle();
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
