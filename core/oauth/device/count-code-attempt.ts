import { addressCounters, consumeThrottles, type ThrottleLimit, throttleCount, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";

const WINDOW_SECONDS = 15 * 60;

/** Wrong user codes (S59). Ten per user: more than anybody mistypes, and a chance of 2⁻³¹ to hit one given code. */
export const WRONG_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 10, windowSeconds: WINDOW_SECONDS };

/** Fifty per address, for an office behind one; ten times as many for all networks of an IPv6 customer. */
export const WRONG_CODES_OF_ADDRESS: ThrottleLimit = { limit: 50, windowSeconds: WINDOW_SECONDS };

/**
 * After two thousand in total, somebody is guessing with many accounts from many addresses. Then each account and each address has few
 * attempts, but nobody is locked out: if one counter stopped everyone, whoever filled it would stop the device flow. With ten thousand
 * devices waiting, one guess in 2.6 million hits one, and not a chosen one; two thousand addresses can make ten thousand guesses per window.
 */
export const MANY_WRONG_CODES: ThrottleLimit = { limit: 2_000, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 3, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ADDRESS: ThrottleLimit = { limit: 5, windowSeconds: WINDOW_SECONDS };

const OF_ALL = throttleKey("user-code", "all");

/**
 * Counts an entered user code as wrong, before it is looked up.
 * @returns a function that reverts the count if the code was right.
 * @throws ServiceError `rate_limited`
 */
export async function countCodeAttempt(userId: string, { ip }: RequestOrigin): Promise<() => Promise<void>> {
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
