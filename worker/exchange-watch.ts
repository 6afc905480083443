import { setTimeout as delay } from "node:timers/promises";
import { log } from "#core/log.ts";
import { alertOnBursts } from "#core/oauth/exchange/alert-on-bursts.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 60_000;

/** Checks every minute whether an app exchanges unusually many tokens (S96). The times are spread, like those of housekeeping. */
export function startExchangeWatch(): Loop {
  const stopping = new AbortController();

  async function cycle(): Promise<void> {
    for (;;) {
      await delay(EVERY_MS * (0.9 + Math.random() * 0.2), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        for (const { clientId, issued, refused } of await alertOnBursts()) {
          log().warn({ clientId, issued, refused }, "unusually many token exchanges");
        }
      } catch (error) {
        log().warn({ err: error }, "bursts of exchanges could not be looked for; it is tried again in a minute");
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
