import { endExpiredSiteSessions } from "#core/accounts/sessions/end-expired-site-sessions.ts";
import { endEngineSessions, SITE_SESSION_END_CHANNEL } from "#core/oauth/back-channel-logout/end-engine-sessions.ts";
import type { Loop } from "./loop.ts";
import { startRounds } from "./rounds.ts";

const EXPIRY_EVERY_MS = 60_000;

/** Ends what depends on ended site sessions, as soon as they end. */
export function startSessionEnds(): Promise<Loop> {
  let expiryDueAt = 0;
  return startRounds({
    channel: SITE_SESSION_END_CHANNEL,
    pollMs: 5_000,
    async work(stopping) {
      if (performance.now() >= expiryDueAt) {
        await endExpiredSiteSessions();
        expiryDueAt = performance.now() + EXPIRY_EVERY_MS;
      }
      while (!stopping.aborted && (await endEngineSessions()));
      return false;
    },
    complaint: "cannot end the engine's sessions; trying again",
  });
}
