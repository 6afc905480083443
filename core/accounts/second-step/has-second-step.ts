import { type Db, db } from "../../db.ts";

/**
 * Whether signing in takes a user two steps: they have a passkey, or an authenticator app that has shown a first code. Recovery
 * codes are a way through, not a step of their own. The view `member_standing` asks the same.
 */
export async function hasSecondStep(userId: string, tx: Db = db()): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM passkey WHERE user_id = ${userId})
        OR EXISTS (SELECT 1 FROM totp WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) AS has`;
  return row?.has ?? false;
}
