import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import { db, pool } from "#core/db.ts";
import type { QueuedLogoutNotice } from "./logout-notice-table.ts";

export async function recordTold({ id }: QueuedLogoutNotice, claimId: string): Promise<void> {
  await pool().query(
    `update oauth_logout_notice set sent_at = now(), claim_id = null, claimed_until = null, last_error = null
     where id = $1 and claim_id = $2`,
    [id, claimId],
  );
}

export async function recordRetry({ id }: QueuedLogoutNotice, claimId: string, reason: string, seconds: number): Promise<void> {
  await pool().query(
    `update oauth_logout_notice
     set claim_id = null, claimed_until = null, last_error = $3, due_at = now() + make_interval(secs => $4)
     where id = $1 and claim_id = $2`,
    [id, claimId, reason, seconds],
  );
}

/** As if it had not been claimed, but due some seconds later, with jitter. */
export async function recordPostponed({ id }: QueuedLogoutNotice, claimId: string, seconds: number): Promise<void> {
  await pool().query(
    `update oauth_logout_notice
     set claim_id = null, claimed_until = null, attempts = attempts - 1, due_at = now() + make_interval(secs => $3 * (1 + random()))
     where id = $1 and claim_id = $2`,
    [id, claimId, seconds],
  );
}

/** The app's owner may want to know that it still considers a user signed in (S109). */
export async function recordGivenUp(notice: QueuedLogoutNotice, claimId: string, reason: string): Promise<void> {
  await db().$transaction(async (tx) => {
    const { count } = await tx.oAuthLogoutNotice.updateMany({
      where: { id: notice.id, claimId },
      data: { failedAt: new Date(), claimId: null, claimedUntil: null, lastError: reason },
    });
    if (count === 0) return;
    await recordAboutSomebody(tx, {
      type: "oauth_logout_notice.fail",
      clientId: notice.client_id,
      subjectId: notice.user_id,
      data: { reason, attempts: notice.attempts },
    });
  });
}
