import { storableUserAgent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { newId } from "../../ids.ts";
import type { AuthenticationMethod } from "./authentication-method.ts";
import { SITE_SESSION_INACTIVITY_SECONDS } from "./session-lifetime.ts";

/** The opaque value of the session cookie, and when the session ends if it is not used. */
export type StartedSiteSession = { token: string; expiresAt: Date };

/**
 * Signs a user in: a new session under a new token of 256 bits (S111), never one that the browser sent, which prevents session
 * fixation (S34). Only the token's hash is stored. It requires no second step: sign-ins go through `completeSignIn`.
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
