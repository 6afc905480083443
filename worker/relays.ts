import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { endRelays } from "#core/relay/end-relays.ts";
import { RELAY_DELIVERY_CHANNEL } from "#core/relay/relay.ts";
import { queueRelayed } from "#core/webhooks/relayed/queue-relayed.ts";
import type { Loop } from "./loop.ts";

/** For what is not announced: a response that arrived just as its caller stopped waiting. */
const LOOK_MS = 5_000;
const END_EVERY_MS = 60_000;

/** Has responses recorded that came through a relay after their delivery, and closes expired relays. */
export async function startRelays(): Promise<Loop> {
  const stopping = new AbortController();
  let wake: () => void = () => undefined;
  let isNews = true;
  await listen(RELAY_DELIVERY_CHANNEL, () => {
    isNews = true;
    wake();
  });

  async function cycle(): Promise<void> {
    let endAt = 0;
    while (!stopping.signal.aborted) {
      isNews = false;
      try {
        await queueRelayed();
        if (Date.now() >= endAt) {
          await endRelays();
          endAt = Date.now() + END_EVERY_MS * (0.9 + Math.random() * 0.2);
        }
      } catch (error) {
        log().warn({ err: error }, "the answers of relays cannot be looked for; trying again");
      }
      const news = new Promise<void>((resolve) => {
        wake = resolve;
        if (isNews) resolve();
      });
      const pause = new AbortController();
      await Promise.race([
        news,
        delay(LOOK_MS, undefined, { signal: AbortSignal.any([stopping.signal, pause.signal]) }).catch(() => undefined),
      ]);
      pause.abort();
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
