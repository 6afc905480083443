import type { Db } from "../../db.ts";
import { revokeInvitationsBy } from "../organizations/invitations/revoke-invitations-by.ts";
import { endAllSiteSessions } from "../sessions/end-all-site-sessions.ts";

/**
 * Ends everything with which a user, or a program in their name, gets in (S112): sessions, and with them those in the engine, which
 * serve nobody without one and stay only until the worker has told their apps; personal access tokens; the publishers whose jobs read as
 * them; what they granted to apps, which is marked, so that every token of it is dead, one being issued at this moment too (S43); links
 * that wait in their mailbox; invitations that they sent.
 */
export async function revokeEverything(tx: Db, userId: string): Promise<void> {
  const revokedAt = new Date();
  await endAllSiteSessions(userId, tx);
  await tx.personalAccessToken.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  // With them go the tokens that their jobs got.
  await tx.trustedPublisher.deleteMany({ where: { userId } });
  await tx.oAuthConsent.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await tx.oAuthGrant.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt } });
  await tx.oneTimeToken.deleteMany({ where: { userId } });
  await revokeInvitationsBy(tx, userId);
}
