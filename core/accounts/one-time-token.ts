import { hashToken, newToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import type { AuthenticationMethod } from "./sessions/start-site-session.ts";

/** The data of each kind of one-time token. A token is found by its hash, works once, and only until it expires. */
export type OneTimeTokenData = {
  /** A sign-up whose email address is not confirmed yet; nothing else about it is stored. */
  "sign-up": {
    username: string;
    fullName: string;
    email: string;
    passwordHash: string;
    /** A path on this service to continue to, such as the authorization request that brought the user here. */
    returnTo: string | null;
  };
  "change-email": { email: string };
  "reset-password": Record<string, never>;
  /** The token itself, sealed, because the service prints it again at each start. */
  "operator-setup": { sealed?: string };
  /** A user between the first and second step of a sign-in or reauthentication; a cookie in the browser holds it. */
  "second-step": {
    /** The methods of the first step; empty if there was none. */
    methods: AuthenticationMethod[];
    /** The session to reauthenticate; null for a sign-in, which has none yet. */
    sessionId: string | null;
  };
  /** A WebAuthn challenge. The token is the challenge itself. */
  "passkey-challenge": {
    for: PasskeyUse;
    /** The session or pending sign-in for which it was created; null if there is only the browser's cookie. */
    boundTo: string | null;
  };
  /** The secret of an authenticator app whose first code is still missing; the current app works until then. */
  "totp-enrolment": { sealedSecret: string };
  /** A pending sign-in at an identity provider; the token is its `state`. */
  "sign-in-elsewhere": {
    providerId: string;
    intent: ProviderSignInIntent;
    /** The hash of the secret in a cookie of the browser that began it. */
    browserHash: string;
    /** A path on this service to continue to. */
    next: string;
    /** When it began, in milliseconds: reauthentication must be later than this (S113). */
    startedAt: number;
  };
  /** A user whose identity at a provider is not linked to an account here yet; a cookie holds the token. */
  "pending-identity": {
    providerId: string;
    subject: string;
    displayName: string;
    /** Verified by the provider. */
    email: string | null;
    username: string | null;
    fullName: string | null;
    next: string;
  };
};

/** Why a user signs in at an identity provider: to sign in here, to link that account to theirs, or to reauthenticate. */
export type ProviderSignInIntent = "sign-in" | "link" | "reauthenticate";

export type PasskeyUse = "register" | "sign-in" | "second-step" | "reauthenticate";

type OneTimePurpose = keyof OneTimeTokenData;

/**
 * The tokens that a new password invalidates: links in the user's mailbox, and flows that an intruder may have begun. That
 * includes the secret of a new authenticator app: the intruder has seen it, and the page would otherwise show it to the owner as
 * their own.
 */
const endedByNewPassword: OneTimePurpose[] = [
  "reset-password",
  "change-email",
  "second-step",
  "totp-enrolment",
  "passkey-challenge",
  "sign-in-elsewhere",
];

/** A token as found, with its data typed by purpose. */
export type OneTimeToken<P extends OneTimePurpose = OneTimePurpose> = {
  [K in P]: { purpose: K; userId: string | null; data: OneTimeTokenData[K]; expiresAt: Date };
}[P];

const HOUR_SECONDS = 60 * 60;

/** How long a token of each kind works, in seconds. */
export const oneTimeTokenSeconds: Record<OneTimePurpose, number> = {
  "sign-up": 24 * HOUR_SECONDS,
  "change-email": 24 * HOUR_SECONDS,
  "reset-password": HOUR_SECONDS,
  "operator-setup": 7 * 24 * HOUR_SECONDS,
  "second-step": 10 * 60,
  "passkey-challenge": 5 * 60,
  "totp-enrolment": 30 * 60,
  "sign-in-elsewhere": 10 * 60,
  // Long enough to sign in here first, or to recover one's password.
  "pending-identity": 60 * 60,
};

/** The error for a link that is unknown, used or expired: the same for all three. */
export function linkIsGone(): ServiceError {
  return new ServiceError("gone", "This link was used, was replaced or has expired. Request a new one.");
}

type NewOneTimeToken<P extends OneTimePurpose> = {
  purpose: P;
  data: OneTimeTokenData[P];
  userId?: string;
  /** If there is no user yet: the canonical email address of a sign-up, or a random value, so that several tokens may be valid at once. */
  subject?: string;
};

/**
 * Creates a one-time token. Earlier ones for the same purpose and the same user or subject stop working, except for a sign-up: anybody can
 * enter somebody else's address.
 */
export async function issueOneTimeToken<P extends OneTimePurpose>(
  tx: Db,
  { purpose, data, userId, subject }: NewOneTimeToken<P>,
): Promise<string> {
  if (purpose !== "sign-up") {
    await tx.oneTimeToken.deleteMany({ where: { purpose, userId: userId ?? null, subject: subject ?? null } });
  }
  const token = newToken();
  await tx.oneTimeToken.create({
    data: {
      tokenHash: hashToken(token),
      purpose,
      userId: userId ?? null,
      subject: subject ?? null,
      data,
      expiresAt: new Date(Date.now() + oneTimeTokenSeconds[purpose] * 1000),
    },
  });
  return token;
}

/** Deletes a user's unused tokens that a new password invalidates. */
export async function deleteTokensOfOldPassword(tx: Db, userId: string): Promise<void> {
  await tx.oneTimeToken.deleteMany({ where: { userId, purpose: { in: endedByNewPassword }, usedAt: null } });
}

/** Looks a link up without using it, for its page: mail scanners open links, so only a form uses one. Undefined if invalid. */
export async function findOneTimeToken<P extends OneTimePurpose>(
  token: string,
  ...purposes: P[]
): Promise<OneTimeToken<P> | undefined> {
  const row = await db().oneTimeToken.findUnique({
    where: { tokenHash: hashToken(token), purpose: { in: purposes }, usedAt: null, expiresAt: { gt: new Date() } },
    select: { purpose: true, userId: true, data: true, expiresAt: true },
  });
  return (row ?? undefined) as OneTimeToken<P> | undefined;
}

/**
 * Uses a link with one conditional update, so that exactly one of any parallel uses succeeds. It belongs to the caller's
 * transaction: if that fails, the link still works.
 * @throws ServiceError `gone`
 */
export async function useOneTimeToken<P extends OneTimePurpose>(
  tx: Db,
  token: string,
  ...purposes: P[]
): Promise<OneTimeToken<P>> {
  const now = new Date();
  const [row] = await tx.oneTimeToken.updateManyAndReturn({
    where: { tokenHash: hashToken(token), purpose: { in: purposes }, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
    select: { purpose: true, userId: true, data: true, expiresAt: true },
  });
  if (!row) throw linkIsGone();
  return row as OneTimeToken<P>;
}
