import { hashToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import type { OneTimeTokenData } from "../one-time-tokens/one-time-token.ts";

/** A user between the two steps. */
export type FoundSecondStep = OneTimeTokenData["second-step"] & {
  /** The id to which its challenges are bound; not the token. */
  id: string;
  userId: string;
};

/** The pending second step of a browser's cookie; undefined if it is unknown, used or expired, without distinction. */
export async function findPendingSecondStep(token: string | undefined): Promise<FoundSecondStep | undefined> {
  if (!token) return undefined;
  const row = await db().oneTimeToken.findUnique({
    where: { tokenHash: hashToken(token), purpose: "second-step", usedAt: null, expiresAt: { gt: new Date() } },
    select: { userId: true, subject: true, data: true },
  });
  if (!row?.userId || !row.subject) return undefined;
  return { id: row.subject, userId: row.userId, ...(row.data as OneTimeTokenData["second-step"]) };
}

export function signInRanOut(): ServiceError {
  return new ServiceError("gone", "This sign-in has run out, or was finished. Sign in again.");
}
