import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { pool } from "#core/db.ts";
import { parseUserCode } from "./user-code.ts";

export type GivenAnswer = { clientId: string; isApproved: boolean };

/** This user's answer to a code; undefined if there is none, or if the code has expired and was deleted. */
export async function findDeviceAnswer(session: SiteSession, typedCode: string): Promise<GivenAnswer | undefined> {
  const userCode = parseUserCode(typedCode);
  if (!userCode) return undefined;
  const { rows } = await pool().query<GivenAnswer>({
    name: "device-answer-find",
    text: `SELECT payload ->> 'clientId' AS "clientId", account_id IS NOT NULL AS "isApproved" FROM oauth_artifact
      WHERE model = 'DeviceCode' AND user_code = $1 AND claimed_by_id = $2 AND (account_id IS NOT NULL OR payload ? 'error')`,
    values: [userCode, session.user.id],
  });
  return rows[0];
}
