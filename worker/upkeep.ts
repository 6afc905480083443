import { DELEGATION_CHANNEL } from "#core/access/delegation.ts";
import { endExpiredSiteSessions } from "#core/accounts/sessions/end-site-session.ts";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { expireAuditEvents } from "#core/audit/retention.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { sweepsOfMinute } from "#core/housekeeping/sweeps.ts";
import { removeDeletedRepositories } from "#core/hub/git/maintenance/remove-files.ts";
import { reconcileRefUpdates } from "#core/hub/git/refs/reconcile.ts";
import { sweepLfsLeftovers } from "#core/hub/lfs/sweep-lfs-leftovers.ts";
import { log } from "#core/log.ts";
import { alertOnBursts } from "#core/oauth/exchange/alert-on-bursts.ts";
import { endEngineSessions, SITE_SESSION_END_CHANNEL } from "#core/oauth/logout/queue-logout-notices.ts";
import { sweepLeftFiles, sweepRunner } from "#core/spaces/run/sweep-left-files.ts";
import { makeRoom, recountStorage } from "#core/storage/make-room.ts";
import { settleEndedDelegations } from "#core/webhooks/delegated.ts";
import { type Loop, startRounds } from "./loop.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export function startUpkeep(): Promise<Loop[]> {
  return Promise.all([
    startSessionEnds(),
    startRounds({
      what: "end what was created under ended grants",
      channel: DELEGATION_CHANNEL,
      everyMs: 30 * SECOND,
      work: settleEndedDelegations,
    }),
    // docs/decisions/046-the-audit-log.md explains the seals.
    startRounds({ what: "seal the audit log", everyMs: SECOND, work: async () => (await sealAuditEvents()).isMore }),
    // Finds out which refs a process had changed before it was killed (S122).
    startRounds({ what: "reconcile refs", everyMs: 5 * SECOND, work: reconcileRefUpdates }),
    startRounds({ what: "remove deleted repositories", everyMs: 5 * SECOND, work: removeDeletedRepositories }),
    startRounds({ what: "do the housekeeping", firstMs: MINUTE, everyMs: HOUR, isSpread: true, work: runHousekeeping }),
    // An account may have left so many files that other housekeeping would wait for hours (S137).
    startRounds({ what: "remove large files", firstMs: MINUTE, everyMs: HOUR, isSpread: true, work: removeLargeFiles }),
    startRounds({ what: "forget used proofs", firstMs: MINUTE, everyMs: MINUTE, isSpread: true, work: forgetProofs }),
    startRounds({ what: "limit the storage", firstMs: 5 * MINUTE, everyMs: 5 * MINUTE, isSpread: true, work: storageWork() }),
    startRounds({ what: "look for bursts of exchanges", firstMs: MINUTE, everyMs: MINUTE, isSpread: true, work: warnOfBursts }),
  ]);
}

export function startSessionEnds(): Promise<Loop> {
  let expiryDueAt = 0;
  return startRounds({
    what: "end the engine's sessions",
    channel: SITE_SESSION_END_CHANNEL,
    everyMs: 5 * SECOND,
    async work(stopping) {
      if (performance.now() >= expiryDueAt) {
        await endExpiredSiteSessions();
        expiryDueAt = performance.now() + MINUTE;
      }
      while (!stopping.aborted && (await endEngineSessions()));
    },
  });
}

const houseWork: [what: string, work: (stopping: AbortSignal) => Promise<unknown>][] = [
  ["rows", sweep],
  ["audit entries", async (stopping) => counted("audit entries", await expireAuditEvents(stopping))],
  ["files that Spaces left", sweepLeftFiles],
  ["runner", sweepRunner],
];

const counted = (what: string, count: number): Record<string, number> => (count > 0 ? { [what]: count } : {});

async function runHousekeeping(stopping: AbortSignal): Promise<void> {
  const swept: Record<string, number> = {};
  for (const [what, work] of houseWork) {
    try {
      Object.assign(swept, await work(stopping));
    } catch (error) {
      // One failure must not prevent the other work.
      log().error({ err: error, what }, "housekeeping failed; trying again in an hour");
    }
  }
  if (Object.keys(swept).length > 0) log().info({ swept }, "housekeeping");
}

async function removeLargeFiles(stopping: AbortSignal): Promise<void> {
  const removed = await sweepLfsLeftovers(stopping);
  if (removed > 0) log().info({ removed }, "removed large files that nothing refers to");
}

const forgetProofs = (stopping: AbortSignal): Promise<unknown> => sweep(stopping, sweepsOfMinute);

function storageWork(): (stopping: AbortSignal) => Promise<void> {
  let recountAt = Date.now() + 5 * MINUTE;
  return async (stopping) => {
    await makeRoom(stopping);
    if (Date.now() >= recountAt) {
      await recountStorage();
      recountAt = Date.now() + HOUR;
    }
  };
}

/** S96 requires this warning. */
async function warnOfBursts(): Promise<void> {
  for (const { clientId, issued, refused } of await alertOnBursts()) {
    log().warn({ clientId, issued, refused }, "unusually many token exchanges");
  }
}
