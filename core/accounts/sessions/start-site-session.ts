import { storableUserAgent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { newId } from "../../ids.ts";

/** The opaque value of the session cookie, and when the session ends if it is not used. */
export type StartedSiteSession = { token: string; expiresAt: Date };

/**
 * Signs a user in: a new session under a new token of 256 bits (S111), never one that the browser sent, which prevents session
 * fixation (S34). Only the token's hash is stored. This function does not ask for the second step: sign-ins go through
 * `completeSignIn`.
 */
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

/**
 * How a user authenticated, in the terms that apps read as `amr` (RFC 8176 §2; `pop` of OpenID Connect EAP): a password, a code
 * used once (of an authenticator app, or a recovery code), a passkey; `mfa` if two were combined.
 */
export type AuthenticationMethod = "pwd" | "otp" | "pop" | "mfa";

/** An unused site session ends after 14 days (S112). */
export const SITE_SESSION_INACTIVITY_SECONDS = 14 * 24 * 60 * 60;

/** A site session ends 90 days after sign-in, however much it is used (S112). */
export const SITE_SESSION_ABSOLUTE_SECONDS = 90 * 24 * 60 * 60;

/** The precision of `lastSeenAt`: at most one write a minute for each session, not one for each page. */
export const LAST_SEEN_RESOLUTION_SECONDS = 60;
