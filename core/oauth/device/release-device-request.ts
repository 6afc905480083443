import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { pool } from "#core/db.ts";
import { parseUserCode } from "./user-code.ts";

/**
 * Releases a code that this user opened and did not answer, so that they can sign in with their other account and open it there. Nobody
 * else can release it (S65).
 */
export async function releaseDeviceRequest(session: SiteSession, typedCode: string): Promise<void> {
  const userCode = parseUserCode(typedCode);
  if (!userCode) return;
  await pool().query({
    name: "device-code-release",
    text: `UPDATE oauth_artifact SET claimed_by_id = NULL
      WHERE model = 'DeviceCode' AND user_code = $1 AND claimed_by_id = $2 AND account_id IS NULL AND NOT payload ? 'error'`,
    values: [userCode, session.user.id],
  });
}
