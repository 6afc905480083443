import { storableUserAgent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { newId } from "../../ids.ts";

export type StartedSiteSession = { token: string; expiresAt: Date };

/** Never uses a token that the browser sent (session fixation, S34, S111). Sign-ins must use `completeSignIn` instead. */
export async function startSiteSession(
  userId: string,
  from: RequestOrigin,
  tx: Db = db(),
  methods: readonly AuthenticationMethod[] = ["pwd"],
  authenticatedAt = new Date(),
): Promise<StartedSiteSession> {
  const token = newToken();
  const expiresAt = new Date(Date.now() + SITE_SESSION_INACTIVITY_SECONDS * 1000);
  await tx.siteSession.create({
    data: {
      id: newId(),
      tokenHash: hashToken(token),
      userId,
      ip: from.ip,
      userAgent: storableUserAgent(from.userAgent),
      methods: [...methods],
      authenticatedAt,
      expiresAt,
    },
  });
  return { token, expiresAt };
}

/** See S34. Returns undefined if the token does not belong to a live session of this user. */
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
  // An older authentication at a provider does not replace a newer one here.
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

/** The values of RFC 8176 §2. `pop` comes from OpenID Connect EAP. */
export type AuthenticationMethod = "pwd" | "otp" | "pop" | "mfa";

/** See S112. */
export const SITE_SESSION_INACTIVITY_SECONDS = 14 * 24 * 60 * 60;

/** A session ends after this time, however much it is used (S112). */
export const SITE_SESSION_ABSOLUTE_SECONDS = 90 * 24 * 60 * 60;

export const LAST_SEEN_RESOLUTION_SECONDS = 60;
