import { setTimeout as delay } from "node:timers/promises";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { log } from "#core/log.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 1_000;

/** Seals new entries of the audit log every second (docs/decisions/046). */
export function startAuditSeals(): Loop {
  const stopping = new AbortController();

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        while ((await sealAuditEvents()).isMore && !stopping.signal.aborted);
      } catch (error) {
        log().warn({ err: error }, "cannot seal the audit log; trying again");
      }
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
