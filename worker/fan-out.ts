import { setTimeout as delay } from "node:timers/promises";
import { EVENT_CHANNEL } from "#core/events/record-event.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { FanOutRounds } from "#core/webhooks/fan-out/fan-out-rounds.ts";
import type { Loop } from "./loop.ts";

// An announcement may be missed, and an event that failed is tried again by the clock.
const POLL_MS = 2_000;

/** Makes the deliveries of events as soon as they are recorded; as many workers at once as there are. */
export async function startFanOut(): Promise<Loop> {
  const rounds = new FanOutRounds();
  const stopping = new AbortController();
  let waking = new AbortController();
  const wake = () => waking.abort();

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      let isMore = false;
      try {
        isMore = await rounds.next();
      } catch (error) {
        log().warn({ err: error }, "cannot fan out events; trying again");
        await delay(500, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      if (isMore) continue;
      const signal = AbortSignal.any([stopping.signal, waking.signal]);
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  await listen(EVENT_CHANNEL, wake);
  const cycling = cycle();
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
