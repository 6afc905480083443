import { hashToken, newToken } from "../../crypto/token.ts";
import type { Db } from "../../db.ts";
import { type OneTimePurpose, type OneTimeTokenData, oneTimeTokenSeconds } from "./one-time-token.ts";

type NewOneTimeToken<P extends OneTimePurpose> = {
  purpose: P;
  data: OneTimeTokenData[P];
  userId?: string;
  /** The subject of the link if there is no user yet: the canonical e-mail address of a sign-up. */
  subject?: string;
};

/** Creates a one-time token; earlier ones for the same purpose and the same user or subject stop working. */
export async function issueOneTimeToken<P extends OneTimePurpose>(
  tx: Db,
  { purpose, data, userId, subject }: NewOneTimeToken<P>,
): Promise<string> {
  await tx.oneTimeToken.deleteMany({ where: { purpose, userId: userId ?? null, subject: subject ?? null } });
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
