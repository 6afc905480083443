import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { countCodeAttempt } from "./count-code-attempt.ts";
import type { DeviceInfo } from "./describe-device.ts";
import { parseUserCode } from "./user-code.ts";

/** A device code that waits for this user's answer. */
export type ClaimedDeviceCode = {
  userCode: string;
  clientId: string;
  /** From the device authorization request, as the engine accepted them. */
  params: Record<string, unknown>;
  device: DeviceInfo;
  requestedAt: Date;
  expiresAt: Date;
};

type Row = {
  payload: { clientId: string; params?: Record<string, unknown>; deviceInfo?: DeviceInfo };
  requestedAt: Date;
  expiresAt: Date;
  isAnswered: boolean;
};

const COLUMNS = `payload, created_at AS "requestedAt", expires_at AS "expiresAt",
  account_id IS NOT NULL OR payload ? 'error' AS "isAnswered"`;

const LIVE = "model = 'DeviceCode' AND user_code = $1 AND expires_at > now()";

const FIND_CLAIMED = `SELECT ${COLUMNS} FROM oauth_artifact WHERE ${LIVE} AND claimed_by_id = $2`;

/** The first user to open a code claims it, in one statement: of two at the same moment, one succeeds. */
const CLAIM = `UPDATE oauth_artifact SET claimed_by_id = $2 WHERE ${LIVE} AND (claimed_by_id IS NULL OR claimed_by_id = $2)
  RETURNING ${COLUMNS}`;

/**
 * The device code for a user code, for the user who enters it. Opening a code claims it: for every other account it is then unknown, like
 * any wrong code (S65).
 * @throws ServiceError with the field `user_code`: `not_found`, `conflict` if this user has already answered, `rate_limited` after too many
 * wrong codes (S59).
 */
export async function claimDeviceCode(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<ClaimedDeviceCode> {
  const userCode = parseUserCode(typedCode);
  const row = (userCode && (await find(userCode, session.user.id))) || (await guess(userCode, session.user.id, from));
  if (!userCode || !row) throw new ServiceError("not_found", UNKNOWN, { field: "user_code" });
  if (row.isAnswered) throw answeredAlready();
  const { clientId, params = {}, deviceInfo = { ip: null, userAgent: null } } = row.payload;
  return { userCode, clientId, params, device: deviceInfo, requestedAt: row.requestedAt, expiresAt: row.expiresAt };
}

/** A code that this user has opened before is not a guess, however often they open or answer it. */
async function find(userCode: string, userId: string): Promise<Row | undefined> {
  const { rows } = await pool().query<Row>({ name: "device-code-find", text: FIND_CLAIMED, values: [userCode, userId] });
  return rows[0];
}

async function guess(userCode: string | undefined, userId: string, from: RequestOrigin): Promise<Row | undefined> {
  const takeBack = await countCodeAttempt(userId, from);
  if (!userCode) return undefined;
  const { rows } = await pool().query<Row>({ name: "device-code-claim", text: CLAIM, values: [userCode, userId] });
  if (rows[0]) await takeBack();
  return rows[0];
}

const UNKNOWN = "This code is not right or has run out. Compare it with your device, or start again there to get a new one.";

export function answeredAlready(): ServiceError {
  const description = "This code was answered already. If your device still waits, start again there to get a new one.";
  return new ServiceError("conflict", description, { field: "user_code" });
}
