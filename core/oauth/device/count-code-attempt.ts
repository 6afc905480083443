import { addressKey } from "#core/accounts/address-key.ts";
import { consumeThrottle, refundThrottle, type ThrottleLimit, throttleKey } from "#core/accounts/throttle.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";

/** Wrong user codes (S59). Ten by one person: more than anybody mistypes, and a chance of 2⁻³¹ to hit one given code. */
export const WRONG_CODES_OF_ACCOUNT: ThrottleLimit = { limit: 10, windowSeconds: 15 * 60 };

/** Fifty from one address, for an office behind one. */
export const WRONG_CODES_OF_ADDRESS: ThrottleLimit = { limit: 50, windowSeconds: 15 * 60 };

/**
 * Two thousand by everybody, for whoever guesses with many accounts from many addresses: with ten thousand devices waiting they
 * hit one once in 320 hours of trying, and nobody can choose which.
 */
export const WRONG_CODES_OF_ALL: ThrottleLimit = { limit: 2_000, windowSeconds: 15 * 60 };

/**
 * Counts one user code that somebody entered as a wrong one, before it is looked up.
 * @returns what takes it back when the code was right.
 * @throws ServiceError `rate_limited`
 */
export async function countCodeAttempt(userId: string, { ip }: RequestOrigin): Promise<() => Promise<void>> {
  const address = addressKey(ip);
  const limits: [key: string, limit: ThrottleLimit][] = [
    [throttleKey("user-code-account", userId), WRONG_CODES_OF_ACCOUNT],
    ...(address ? [[throttleKey("user-code-address", address), WRONG_CODES_OF_ADDRESS] as [string, ThrottleLimit]] : []),
    [throttleKey("user-code", "all"), WRONG_CODES_OF_ALL],
  ];
  for (const [key, limit] of limits) {
    await consumeThrottle(key, limit).catch((error: unknown) => {
      if (!isServiceError(error)) throw error;
      const { message, retryAfterSeconds } = error;
      const description = message.replace("Too many attempts.", "Too many codes were entered.");
      throw new ServiceError("rate_limited", description, { field: "user_code", retryAfterSeconds, cause: error });
    });
  }
  return async () => {
    await Promise.all(limits.map(([key]) => refundThrottle(key)));
  };
}
