import { setTimeout as delay } from "node:timers/promises";
import { removeDeletedRepositories } from "#core/hub/git/maintenance/remove-deleted.ts";
import { reconcileRefUpdates } from "#core/hub/git/refs/reconcile.ts";
import { log } from "#core/log.ts";
import type { Loop } from "./loop.ts";

const EVERY_MS = 5_000;

/**
 * Reconciles changes of refs whose process was killed (S122), at the start and from then on; and removes the data of deleted repositories.
 */
export function startGitUpkeep(): Loop {
  const stopping = new AbortController();

  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => log().warn({ err: error }, `cannot ${what}; trying again`));
  }

  async function cycle(): Promise<void> {
    while (!stopping.signal.aborted) {
      await attempt("reconcile refs", reconcileRefUpdates);
      await attempt("remove deleted repositories", () => removeDeletedRepositories(stopping.signal));
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
