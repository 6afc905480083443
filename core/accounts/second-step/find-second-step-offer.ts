import { db } from "../../db.ts";

/** The methods with which a user can complete the second step. */
export type SecondStepOffer = {
  username: string;
  hasPassword: boolean;
  hasPasskeys: boolean;
  hasAuthenticator: boolean;
  hasRecoveryCodes: boolean;
};

/** For the page that asks a user who completed the first step or is signed in. */
export async function findSecondStepOffer(userId: string): Promise<SecondStepOffer> {
  const user = await db().user.findUniqueOrThrow({
    where: { id: userId },
    select: {
      username: true,
      passwordHash: true,
      totp: { select: { confirmedAt: true } },
      _count: { select: { passkeys: true, recoveryCodes: { where: { usedAt: null } } } },
    },
  });
  return {
    username: user.username,
    hasPassword: user.passwordHash !== null,
    hasPasskeys: user._count.passkeys > 0,
    hasAuthenticator: Boolean(user.totp?.confirmedAt),
    hasRecoveryCodes: user._count.recoveryCodes > 0,
  };
}
