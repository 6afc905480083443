import type { Person } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { checkOwnPassword } from "../passwords/check-own-password.ts";
import type { StartedSiteSession } from "./start-site-session.ts";

/**
 * Takes the password anew before a sensitive change (S113). The session goes on under a new token, which the door sets as the
 * cookie; the old token is dead (ASVS 7.2.4, S34).
 * @throws ServiceError `unauthorized` (wrong password, field `password`), `rate_limited`
 */
export async function reauthenticate(actor: Person, password: unknown, from: RequestOrigin): Promise<StartedSiteSession> {
  await checkOwnPassword(actor.userId, password, from);
  const token = newToken();
  const [session] = await db().siteSession.updateManyAndReturn({
    where: { id: actor.sessionId, userId: actor.userId, endedAt: null },
    data: { tokenHash: hashToken(token), authenticatedAt: new Date() },
    select: { expiresAt: true },
  });
  if (!session) throw new ServiceError("unauthorized", "Your session has ended. Sign in again.");
  return { token, expiresAt: session.expiresAt };
}
