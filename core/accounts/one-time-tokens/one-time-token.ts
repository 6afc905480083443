import { ServiceError } from "../../errors.ts";
import type { AuthenticationMethod } from "../sessions/authentication-method.ts";

/** What each link carries. A one-time token is found by its hash, works once and only until it expires. */
export type OneTimeTokenData = {
  /** A sign-up that waits for its e-mail address to be confirmed; nothing else exists of it yet. */
  "sign-up": {
    username: string;
    fullName: string;
    email: string;
    passwordHash: string;
    /** A path of ours to go on to, such as the authorization that brought the person here. */
    returnTo: string | null;
  };
  "change-email": { email: string };
  "reset-password": Record<string, never>;
  "operator-setup": Record<string, never>;
  /** Somebody between the first step of signing in, or of proving it again, and the second; the browser holds it as a cookie. */
  "second-step": {
    /** What the first step was; empty where there was none to take. */
    methods: AuthenticationMethod[];
    /** The session that is to be proved again; null for a sign-in, which has none yet. */
    sessionId: string | null;
  };
  /** A WebAuthn challenge. The token is the challenge itself. */
  "passkey-challenge": {
    for: PasskeyUse;
    /** The session, or the sign-in between its steps, that it was made for; null where the browser's cookie is all there is. */
    boundTo: string | null;
  };
  /** The secret of an authenticator app that has not shown a first code; the one in use goes on until it has. */
  "totp-enrolment": { sealedSecret: string };
  /** A sign-in that is under way at an identity provider; the token is its `state`. */
  "sign-in-elsewhere": {
    providerId: string;
    intent: SignInElsewhereIntent;
    /** The hash of the secret that the browser which began it holds as a cookie. */
    browserHash: string;
    /** A path of ours to go on to. */
    next: string;
    /** When it began, in milliseconds: proving anew has to have happened since (S113). */
    startedAt: number;
  };
  /** Somebody who proved who they are at an identity provider, and whom nobody here is linked to yet; a cookie holds the token. */
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

/** What somebody is at an identity provider for: to get in, to link their account there with the one in use, or to prove anew who they are. */
export type SignInElsewhereIntent = "sign-in" | "link" | "reauthenticate";

export type PasskeyUse = "register" | "sign-in" | "second-step" | "reauthenticate";

export type OneTimePurpose = keyof OneTimeTokenData;

/**
 * What a new password ends: links that wait in a mailbox, and what somebody who was in before has begun; an authenticator app's secret
 * too, which they have seen and which would else be shown to the owner as theirs.
 */
export const endedByNewPassword = [
  "reset-password",
  "change-email",
  "second-step",
  "totp-enrolment",
  "passkey-challenge",
  "sign-in-elsewhere",
] as const satisfies OneTimePurpose[];

/** A token as found, its data typed by its purpose. */
export type OneTimeToken<P extends OneTimePurpose = OneTimePurpose> = {
  [K in P]: { purpose: K; userId: string | null; data: OneTimeTokenData[K]; expiresAt: Date };
}[P];

export const HOUR_SECONDS = 60 * 60;

/** How long each link works, in seconds. */
export const oneTimeTokenSeconds: Record<OneTimePurpose, number> = {
  "sign-up": 24 * HOUR_SECONDS,
  "change-email": 24 * HOUR_SECONDS,
  "reset-password": HOUR_SECONDS,
  "operator-setup": 7 * 24 * HOUR_SECONDS,
  "second-step": 10 * 60,
  "passkey-challenge": 5 * 60,
  "totp-enrolment": 30 * 60,
  "sign-in-elsewhere": 10 * 60,
  // Long enough to sign in here first, or to find out what one's password was.
  "pending-identity": 60 * 60,
};

/** The answer to a link that is unknown, used or too old: the same for all three. */
export function linkIsGone(): ServiceError {
  return new ServiceError("gone", "This link no longer works: it was used, replaced or is too old. Ask for a new one.");
}
