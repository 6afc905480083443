import { setTimeout as delay } from "node:timers/promises";
import { endExpiredSiteSessions } from "#core/accounts/sessions/end-expired-site-sessions.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { endEngineSessions, SITE_SESSION_END_CHANNEL } from "#core/oauth/back-channel-logout/end-engine-sessions.ts";
import type { Loop } from "./loop.ts";

// An announcement may be missed.
const POLL_MS = 5_000;
const EXPIRY_EVERY_MS = 60_000;

/** Ends what hangs on site sessions that are over, as soon as they are. */
export async function startSessionEnds(): Promise<Loop> {
  const stopping = new AbortController();
  let waking = new AbortController();
  let expiryDueAt = 0;
  const wake = () => waking.abort();

  async function work(): Promise<void> {
    if (performance.now() >= expiryDueAt) {
      await endExpiredSiteSessions();
      expiryDueAt = performance.now() + EXPIRY_EVERY_MS;
    }
    while (!stopping.signal.aborted && (await endEngineSessions()));
  }

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      try {
        await work();
      } catch (error) {
        log().warn({ err: error }, "cannot end the engine's sessions; trying again");
      }
      const signal = AbortSignal.any([stopping.signal, waking.signal]);
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  await listen(SITE_SESSION_END_CHANNEL, wake);
  const cycling = cycle();
  return {
    async stop() {
      stopping.abort();
      await cycling;
    },
  };
}
