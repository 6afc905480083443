import { hashToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import type { OneTimePurpose, OneTimeToken } from "./one-time-token.ts";

/**
 * Looks a link up without using it, for the page that shows what it would do: mail scanners open links, so only a posted form
 * uses one. Undefined if it no longer works.
 */
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
