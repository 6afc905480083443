import type { Db } from "#core/db.ts";
import { answeredAlready } from "./claim-device-code.ts";

/** In the engine's terms, as it reads them at the next poll. */
export type DeviceAnswer =
  | {
      accountId: string;
      grantId: string;
      scope: string;
      /** When the user authenticated, in seconds since 1970, and how (OIDC Core §2). */
      authTime: number;
      amr: string[] | undefined;
      resource?: string | string[];
    }
  | { error: "access_denied"; errorDescription: string };

/**
 * Stores the answer to a device code that has none yet, in one conditional statement: of two simultaneous approvals, or an approval and a
 * denial, one counts.
 * @throws ServiceError `conflict` for the other one.
 */
export async function answerDeviceCode(
  tx: Db,
  { userCode, userId }: { userCode: string; userId: string },
  answer: DeviceAnswer,
): Promise<void> {
  const [accountId, grantId] = "grantId" in answer ? [answer.accountId, answer.grantId] : [null, null];
  const count = await tx.$executeRaw`
    UPDATE oauth_artifact SET account_id = ${accountId}, grant_id = ${grantId}, payload = payload || ${JSON.stringify(answer)}::jsonb
    WHERE model = 'DeviceCode' AND user_code = ${userCode} AND claimed_by_id = ${userId} AND expires_at > now()
      AND consumed_at IS NULL AND account_id IS NULL AND payload ->> 'error' IS NULL`;
  if (count !== 1) throw answeredAlready();
}
