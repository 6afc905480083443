import { addressCounters, consumeThrottles, type ThrottleLimit, throttleCount, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";

const WINDOW_SECONDS = 15 * 60;

/** Wrong user codes (S59). Ten by one person: more than anybody mistypes, and a chance of 2⁻³¹ to hit one given code. */
export const WRONG_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 10, windowSeconds: WINDOW_SECONDS };

/** Fifty from one address, for an office behind one; ten times as many from all networks of an IPv6 customer. */
export const WRONG_CODES_OF_ADDRESS: ThrottleLimit = { limit: 50, windowSeconds: WINDOW_SECONDS };

/**
 * After two thousand by everybody somebody guesses with many accounts from many addresses. Then each account and each address has few
 * tries, and nobody is shut out: whoever could fill a counter that stops all would stop the device flow for all. With ten thousand devices
 * waiting one guess in 2.6 million hits one, which nobody can choose; two thousand addresses make ten thousand guesses in a window.
 */
export const MANY_WRONG_CODES: ThrottleLimit = { limit: 2_000, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 3, windowSeconds: WINDOW_SECONDS };
export const FEW_CODES_OF_ADDRESS: ThrottleLimit = { limit: 5, windowSeconds: WINDOW_SECONDS };

const OF_ALL = throttleKey("user-code", "all");

/**
 * Counts one user code that somebody entered as a wrong one, before it is looked up.
 * @returns what takes it back when the code was right.
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
