import { hashToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { issueOneTimeToken, type OneTimeTokenData, oneTimeTokenSeconds } from "../one-time-token.ts";
import { siteSessionCookie } from "../sessions/site-session-cookie.ts";
import type { AuthenticationMethod } from "../sessions/start-site-session.ts";

export type PendingSecondStep = { step: "second-step"; userId: string; token: string; expiresAt: Date };

/** @param sessionId the session to reauthenticate (S113), or null for a sign-in */
export async function openSecondStep(
  tx: Db,
  userId: string,
  { methods, sessionId }: { methods: readonly AuthenticationMethod[]; sessionId: string | null },
): Promise<PendingSecondStep> {
  // The subject is unique, because an attacker who knows the password must not end the owner's sign-in by starting another.
  const data = { methods: [...methods], sessionId };
  const token = await issueOneTimeToken(tx, { purpose: "second-step", userId, subject: newId(), data });
  return { step: "second-step", userId, token, expiresAt: new Date(Date.now() + oneTimeTokenSeconds["second-step"] * 1000) };
}

export type FoundSecondStep = OneTimeTokenData["second-step"] & {
  /** Challenges are bound to this ID, not to the token. */
  id: string;
  userId: string;
};

export async function findPendingSecondStep(token: string | undefined): Promise<FoundSecondStep | undefined> {
  if (!token) return undefined;
  const row = await db().oneTimeToken.findUnique({
    where: { tokenHash: hashToken(token), purpose: "second-step", usedAt: null, expiresAt: { gt: new Date() } },
    select: { userId: true, subject: true, data: true },
  });
  if (!row?.userId || !row.subject) return undefined;
  return { id: row.subject, userId: row.userId, ...(row.data as OneTimeTokenData["second-step"]) };
}

export function signInExpired(): ServiceError {
  return new ServiceError("gone", "This sign-in has expired or was already completed. Sign in again.");
}

type SecondStepOffer = {
  username: string;
  hasPassword: boolean;
  hasPasskeys: boolean;
  hasAuthenticator: boolean;
  hasRecoveryCodes: boolean;
};

export async function findSecondStepOffer(userId: string): Promise<SecondStepOffer> {
  const user = await db().user.findUniqueOrThrow({
    where: { id: userId },
    select: {
      username: true,
      passwordHash: true,
      totp: { select: { confirmedAt: true } },
      _count: { select: { passkeys: true, recoveryCodes: { where: { usedAt: null } } } },
    },
  });
  return {
    username: user.username,
    hasPassword: user.passwordHash !== null,
    hasPasskeys: user._count.passkeys > 0,
    hasAuthenticator: Boolean(user.totp?.confirmedAt),
    hasRecoveryCodes: user._count.recoveryCodes > 0,
  };
}

/** Like the session's cookie (S111), but valid only for minutes. */
type ShortLivedCookie = ReturnType<typeof siteSessionCookie>;

export function secondStepCookie(): ShortLivedCookie {
  return shortLived("second-step", oneTimeTokenSeconds["second-step"]);
}

/** Only the browser that requested the challenge can answer it. */
export function passkeyChallengeCookie(): ShortLivedCookie {
  return shortLived("passkey", oneTimeTokenSeconds["passkey-challenge"]);
}

function shortLived(name: string, maxAge: number): ShortLivedCookie {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", name), options: { ...session.options, maxAge } };
}
