import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { makeRoom, recountStorage } from "#core/storage/make-room.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 5 * 60_000;
const RECOUNT_EVERY_MS = 60 * 60_000;

/** Deletes the oldest records of owners who have too many, and recounts from time to time (core/storage). */
export function startStorage(): Loop {
  const stopping = new AbortController();

  async function cycle(): Promise<void> {
    let recountAt = Date.now() + EVERY_MS;
    for (;;) {
      await delay(EVERY_MS * (0.9 + Math.random() * 0.2), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        await makeRoom(stopping.signal);
        if (Date.now() < recountAt) continue;
        await recountStorage();
        recountAt = Date.now() + RECOUNT_EVERY_MS;
      } catch (error) {
        log().warn({ err: error }, "storage cannot be looked after; trying again");
      }
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
