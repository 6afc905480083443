import { hashToken } from "../crypto/token.ts";
import type { Db } from "../db.ts";

/** Whether a token belongs to one of the user's relays and works now. */
export async function isOwnRelay(tx: Db, token: string, userId: string): Promise<boolean> {
  const found = await tx.relay.count({
    where: { tokenHash: hashToken(token), userId, closedAt: null, expiresAt: { gt: new Date() } },
  });
  return found > 0;
}
