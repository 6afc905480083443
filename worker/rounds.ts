import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import type { Loop } from "./loop.ts";

export type Rounds = {
  /** NOTIFY channel that announces work. */
  channel: string;
  /** An announcement may be missed, and failed work is retried at intervals. */
  pollMs: number;
  /** @returns whether there may be more to do at once */
  work: (stopping: AbortSignal) => Promise<boolean>;
  /** The log message when it throws. */
  complaint: string;
};

/** Work done in rounds: as soon as it is announced, and at intervals. */
export async function startRounds({ channel, pollMs, work, complaint }: Rounds): Promise<Loop> {
  const stopping = new AbortController();
  let waking = new AbortController();

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      let isMore = false;
      try {
        isMore = await work(stopping.signal);
      } catch (error) {
        log().warn({ err: error }, complaint);
        await delay(500, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      if (isMore) continue;
      const signal = AbortSignal.any([stopping.signal, waking.signal]);
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  await listen(channel, () => waking.abort());
  const cycling = cycle();
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
