import { storableUserAgent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import type { Db } from "../../db.ts";
import type { AuthenticationMethod } from "./authentication-method.ts";
import { SITE_SESSION_INACTIVITY_SECONDS } from "./session-lifetime.ts";
import type { StartedSiteSession } from "./start-site-session.ts";

/**
 * When the same user signs in again in the same browser, restarts their session under a new token (S34). The session has not
 * ended, so apps get no logout notice.
 * @returns undefined if the token does not belong to a live session of theirs.
 */
export async function renewSiteSession(
  userId: string,
  token: string,
  from: RequestOrigin,
  tx: Db,
  methods: readonly AuthenticationMethod[],
  authenticatedAt = new Date(),
): Promise<StartedSiteSession | undefined> {
  const now = new Date();
  const live = { tokenHash: hashToken(token), userId, endedAt: null, expiresAt: { gt: now } };
  const before = await tx.siteSession.findFirst({ where: live, select: { authenticatedAt: true, methods: true } });
  if (!before) return undefined;
  // A provider's older authentication does not replace a newer one here.
  const proof = before.authenticatedAt > authenticatedAt ? before : { authenticatedAt, methods: [...methods] };
  const renewed = newToken();
  const expiresAt = new Date(now.getTime() + SITE_SESSION_INACTIVITY_SECONDS * 1000);
  const { count } = await tx.siteSession.updateMany({
    where: live,
    data: {
      tokenHash: hashToken(renewed),
      ip: from.ip,
      userAgent: storableUserAgent(from.userAgent),
      createdAt: now,
      authenticatedAt: proof.authenticatedAt,
      methods: proof.methods,
      lastSeenAt: now,
      expiresAt,
    },
  });
  return count === 1 ? { token: renewed, expiresAt } : undefined;
}
