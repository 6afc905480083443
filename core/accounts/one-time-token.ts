import { hashToken, newToken } from "#core/crypto/token.ts";
import { type Db, db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import type { AuthenticationMethod } from "./sessions/start-site-session.ts";

export type OneTimeTokenData = {
  "sign-up": {
    username: string;
    fullName: string;
    email: string;
    passwordHash: string;
    returnTo: string | null;
  };
  "change-email": { email: string };
  "reset-password": Record<string, never>;
  /** The encrypted token, which the service prints again at each start. */
  "operator-setup": { sealed?: string };
  "second-step": {
    methods: AuthenticationMethod[];
    /** The session to reauthenticate, or null for a sign-in. */
    sessionId: string | null;
  };
  "passkey-challenge": {
    for: PasskeyUse;
    /** A session or a pending sign-in, or null if there is only the browser's cookie. */
    boundTo: string | null;
  };
  /** The current authenticator app stays valid until a code of the new one is entered. */
  "totp-enrolment": { sealedSecret: string };
  "sign-in-elsewhere": {
    providerId: string;
    intent: ProviderSignInIntent;
    browserHash: string;
    next: string;
    /** Milliseconds. The reauthentication must be later (S113). */
    startedAt: number;
  };
  "pending-identity": {
    providerId: string;
    subject: string;
    displayName: string;
    email: string | null;
    username: string | null;
    fullName: string | null;
    next: string;
  };
};

export type ProviderSignInIntent = "sign-in" | "link" | "reauthenticate";

export type PasskeyUse = "register" | "sign-in" | "second-step" | "reauthenticate";

type OneTimePurpose = keyof OneTimeTokenData;

/** An intruder may have begun these flows, so a new password ends them. */
const endedByNewPassword: OneTimePurpose[] = [
  "reset-password",
  "change-email",
  "second-step",
  "totp-enrolment",
  "passkey-challenge",
  "sign-in-elsewhere",
];

export type OneTimeToken<P extends OneTimePurpose = OneTimePurpose> = {
  [K in P]: { purpose: K; userId: string | null; data: OneTimeTokenData[K]; expiresAt: Date };
}[P];

const HOUR_SECONDS = 60 * 60;

export const oneTimeTokenSeconds: Record<OneTimePurpose, number> = {
  "sign-up": 24 * HOUR_SECONDS,
  "change-email": 24 * HOUR_SECONDS,
  "reset-password": HOUR_SECONDS,
  "operator-setup": 7 * 24 * HOUR_SECONDS,
  "second-step": 10 * 60,
  "passkey-challenge": 5 * 60,
  "totp-enrolment": 30 * 60,
  "sign-in-elsewhere": 10 * 60,
  // Long enough to sign in here first, or to recover a password.
  "pending-identity": 60 * 60,
};

/** Unknown, used, replaced and expired links get the same error. */
export function linkIsGone(): ServiceError {
  return new ServiceError("gone", "This link was used, was replaced or has expired. Request a new one.");
}

type NewOneTimeToken<P extends OneTimePurpose> = {
  purpose: P;
  data: OneTimeTokenData[P];
  userId?: string;
  /** Without a user: the canonical email address of a sign-up, or a random value if several tokens may be valid. */
  subject?: string;
};

/** A sign-up does not replace earlier tokens, because anybody can enter somebody else's address. */
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

export async function deleteTokensOfOldPassword(tx: Db, userId: string): Promise<void> {
  await tx.oneTimeToken.deleteMany({ where: { userId, purpose: { in: endedByNewPassword }, usedAt: null } });
}

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

/** A single conditional update, so that exactly one of several parallel uses succeeds. */
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
