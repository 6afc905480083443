import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { pool } from "#core/db.ts";
import { parseUserCode } from "./user-code.ts";

export type GivenAnswer = { clientId: string; isApproved: boolean };

/** What this person has answered to a code; undefined when they have not, or the code is over and forgotten. */
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
