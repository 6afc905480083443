import { endDelegationsOf } from "#core/access/delegation.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { inTransaction } from "#core/db.ts";

export type Replay = { grantId: string; clientId: string | null; accountId: string | null };

/**
 * Ends a Grant whose code or refresh token was used twice, with everything issued under it, and says so in the audit log, once,
 * however many requests come second (S43, S47, S116).
 */
export async function revokeReplayedGrant(
  kind: string,
  { grantId, clientId, accountId }: Replay,
  from: RequestOrigin,
): Promise<void> {
  await inTransaction(async (tx) => {
    const live = { id: grantId, revokedAt: null };
    const { count } = await tx.oAuthGrant.updateMany({ where: live, data: { revokedAt: new Date() } });
    // Whoever used the stolen code may have made a webhook with it, and have signed out since.
    await endDelegationsOf(tx, [grantId]);
    if (count === 0) return;
    // Those who look after the app must know: its tokens, or its redirect, leak somewhere.
    const app = clientId ? await tx.oAuthApp.findUnique({ where: { clientId }, select: { ownerOrgId: true } }) : null;
    await recordAboutSomebody(tx, {
      type: "oauth_token.replay_detected",
      orgId: app?.ownerOrgId,
      clientId,
      subjectId: accountId,
      data: { kind },
      from,
    });
  });
}
