import { type Db, db } from "../../db.ts";

/**
 * Whether a user signs in in two steps: they have a passkey, or an authenticator app whose first code was confirmed. Recovery
 * codes replace a step but are not one. The view `member_standing` has the same condition.
 */
export async function hasSecondStep(userId: string, tx: Db = db()): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM passkey WHERE user_id = ${userId})
        OR EXISTS (SELECT 1 FROM totp WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) AS has`;
  return row?.has ?? false;
}
