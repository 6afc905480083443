import { hashToken } from "../../crypto/token.ts";
import type { Db } from "../../db.ts";
import { linkIsGone, type OneTimePurpose, type OneTimeToken } from "./one-time-token.ts";

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
