import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { addressCounters, consumeThrottles, type ThrottleLimit, throttleCount, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { pool } from "#core/db.ts";
import { conflict, isServiceError, ServiceError } from "#core/errors.ts";
import type { DeviceInfo } from "./issue-device-code.ts";
import { parseUserCode } from "./user-code.ts";

export type ClaimedDeviceCode = {
  userCode: string;
  clientId: string;
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

export const IS_ANSWERED = "(consumed_at IS NOT NULL OR payload ?| ARRAY['accountId', 'error'])";

const COLUMNS = `payload, created_at AS "requestedAt", expires_at AS "expiresAt", ${IS_ANSWERED} AS "isAnswered"`;

const LIVE = "model = 'DeviceCode' AND user_code = $1 AND expires_at > now()";

const FIND_CLAIMED = `SELECT ${COLUMNS} FROM oauth_artifact WHERE ${LIVE} AND claimed_by_id = $2`;

const CLAIM = `UPDATE oauth_artifact SET claimed_by_id = $2 WHERE ${LIVE} AND (claimed_by_id IS NULL OR claimed_by_id = $2)
  RETURNING ${COLUMNS}`;

/**
 * To every other account, a claimed code is unknown (S65).
 * @throws ServiceError `rate_limited` after too many wrong codes (S59)
 */
export async function claimDeviceCode(session: SiteSession, typedCode: string, from: RequestOrigin): Promise<ClaimedDeviceCode> {
  const userCode = parseUserCode(typedCode);
  const row = (userCode && (await find(userCode, session.user.id))) || (await guess(userCode, session.user.id, from));
  if (!userCode || !row) throw new ServiceError("not_found", UNKNOWN, { field: "user_code" });
  if (row.isAnswered) throw alreadyAnswered();
  const { clientId, params = {}, deviceInfo = { ip: null, userAgent: null } } = row.payload;
  return { userCode, clientId, params, device: deviceInfo, requestedAt: row.requestedAt, expiresAt: row.expiresAt };
}

async function find(userCode: string, userId: string): Promise<Row | undefined> {
  const { rows } = await pool().query<Row>({ name: "device-code-find", text: FIND_CLAIMED, values: [userCode, userId] });
  return rows[0];
}

async function guess(userCode: string | undefined, userId: string, from: RequestOrigin): Promise<Row | undefined> {
  const undo = await countCodeAttempt(userId, from);
  if (!userCode) return undefined;
  const { rows } = await pool().query<Row>({ name: "device-code-claim", text: CLAIM, values: [userCode, userId] });
  if (rows[0]) await undo();
  return rows[0];
}

const UNKNOWN = "This code is incorrect or has expired. Compare it with your device, or start again there to get a new one.";

export function alreadyAnswered(): ServiceError {
  const description = "This code was already used. If your device is still waiting, start again there to get a new one.";
  return conflict(description, "user_code");
}

const WINDOW_SECONDS = 15 * 60;

/** S59: nobody mistypes this many codes. */
export const WRONG_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 10, windowSeconds: WINDOW_SECONDS };

/** An office may share one address. */
export const WRONG_CODES_OF_ADDRESS: ThrottleLimit = { limit: 50, windowSeconds: WINDOW_SECONDS };

/**
 * Above this number, somebody is guessing with many accounts, so each account gets fewer attempts. A limit for all would let the
 * attacker stop the device flow.
 */
export const MANY_WRONG_CODES: ThrottleLimit = { limit: 2_000, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 3, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ADDRESS: ThrottleLimit = { limit: 5, windowSeconds: WINDOW_SECONDS };

const OF_ALL = throttleKey("user-code", "all");

/**
 * Counts before the lookup.
 * @returns a function that reverts the count
 */
async function countCodeAttempt(userId: string, { ip }: RequestOrigin): Promise<() => Promise<void>> {
  const isFlood = (await throttleCount(OF_ALL)) >= MANY_WRONG_CODES.limit;
  const counters: [key: string, limit: ThrottleLimit][] = [
    [throttleKey("user-code-account", userId), isFlood ? FEW_CODES_OF_ACCOUNT : WRONG_CODES_OF_ACCOUNT],
    ...addressCounters("user-code-address", ip ?? "unknown", isFlood ? FEW_CODES_OF_ADDRESS : WRONG_CODES_OF_ADDRESS),
    [OF_ALL, { ...MANY_WRONG_CODES, limit: Number.POSITIVE_INFINITY }],
  ];
  const counted = await consumeThrottles(counters).catch((error: unknown) => {
    if (!isServiceError(error)) throw error;
    const { message, retryAfterSeconds } = error;
    const description = message.replace("Too many attempts.", "Too many codes were entered.");
    throw new ServiceError("rate_limited", description, { field: "user_code", retryAfterSeconds, cause: error });
  });
  return async () => {
    await Promise.all(counted.map(({ giveBack }) => giveBack()));
  };
}
