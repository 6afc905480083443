import { setTimeout as delay } from "node:timers/promises";
import { expireAuditEvents } from "#core/audit/chain/expire-audit-events.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { sweepLfsLeftovers } from "#core/hub/lfs/sweep-lfs-leftovers.ts";
import { log } from "#core/log.ts";
import { sweepLeftFiles, sweepRunner } from "#core/spaces/run/sweep-left-files.ts";
import type { Loop } from "./loop.ts";

const FIRST_MS = 60_000;
const EVERY_MS = 60 * 60_000;

/** Sweeps every hour. The times are spread, so that the workers of several machines do not all query at once. */
export function startHousekeeping(): Loop {
  const stopping = new AbortController();

  async function cycle(): Promise<void> {
    for (let wait = FIRST_MS; ; wait = EVERY_MS) {
      await delay(wait * (0.9 + Math.random() * 0.2), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        const swept = await sweep(stopping.signal);
        const leftovers = await sweepLfsLeftovers(stopping.signal);
        if (leftovers > 0) swept["large files"] = leftovers;
        const expired = await expireAuditEvents(stopping.signal);
        if (expired > 0) swept["audit entries"] = expired;
        await sweepLeftFiles();
        await sweepRunner();
        if (Object.keys(swept).length > 0) log().info({ swept }, "housekeeping");
      } catch (error) {
        log().warn({ err: error }, "housekeeping failed; it is tried again in an hour");
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
