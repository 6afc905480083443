import { hashToken } from "../crypto/token.ts";
import type { Db } from "../db.ts";

/** Whether a token is that of a relay of somebody's, and leads to it now. */
export async function isOwnRelay(tx: Db, token: string, userId: string): Promise<boolean> {
  const found = await tx.relay.count({
    where: { tokenHash: hashToken(token), userId, closedAt: null, expiresAt: { gt: new Date() } },
  });
  return found > 0;
}
