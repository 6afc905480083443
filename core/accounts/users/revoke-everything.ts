import type { Db } from "../../db.ts";
import { revokeInvitationsBy } from "../organizations/invitations/revoke-invitations-by.ts";
import { endAllSiteSessions } from "../sessions/end-all-site-sessions.ts";

/**
 * Ends all access of a user and of programs in their name (S112): sessions, and with them provider sessions, which grant
 * nothing without one and stay only until the worker has notified their apps; personal access tokens; publishers whose jobs
 * read as them; consents to apps, which are marked, so that every token of them is invalid, even one being issued at this
 * moment (S43); links that wait in their mailbox; invitations that they sent.
 */
export async function revokeEverything(tx: Db, userId: string): Promise<void> {
  const revokedAt = new Date();
  await endAllSiteSessions(userId, tx);
  await tx.personalAccessToken.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  // The tokens that their jobs got end with them.
  await tx.trustedPublisher.deleteMany({ where: { userId } });
  await tx.oAuthConsent.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await tx.oAuthGrant.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await tx.oneTimeToken.deleteMany({ where: { userId } });
  await revokeInvitationsBy(tx, userId);
}
