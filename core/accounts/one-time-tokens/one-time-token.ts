import { ServiceError } from "../../errors.ts";

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
};

export type OneTimePurpose = keyof OneTimeTokenData;

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
};

/** The answer to a link that is unknown, used or too old: the same for all three. */
export function linkIsGone(): ServiceError {
  return new ServiceError("gone", "This link no longer works: it was used, replaced or is too old. Ask for a new one.");
}
