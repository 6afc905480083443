import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { keepPartitions } from "#core/webhooks/partitions/keep-partitions.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 60 * 60_000;
// Another session held a lock, or the database was unavailable.
const AGAIN_MS = 60_000;

/** Creates and drops days of deliveries: once before the first delivery, then every hour. */
export async function startDeliveryPartitions(): Promise<Loop> {
  const stopping = new AbortController();

  async function keep(): Promise<number> {
    try {
      const { made, dropped } = await keepPartitions();
      if (made > 0 || dropped.length > 0) log().info({ made, dropped }, "days of deliveries");
      return EVERY_MS;
    } catch (error) {
      // Nothing is lost meanwhile: deliveries without a day go into the default partition.
      log().warn({ err: error }, "days of deliveries cannot be made or dropped; it is tried again in a minute");
      return AGAIN_MS;
    }
  }

  async function cycle(first: number): Promise<void> {
    for (let wait = first; ; wait = await keep()) {
      await delay(wait * (0.9 + Math.random() * 0.2), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
    }
  }

  const cycling = cycle(await keep());
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
