import type { RequestOrigin } from "../audit/request-origin.ts";
import { addressKey } from "./address-key.ts";
import { clearThrottle, consumeThrottle, refundThrottle, type ThrottleLimit, throttleKey } from "./throttle.ts";

/** Ten wrong passwords for one account in a quarter of an hour. A password reset by mail also lifts it. */
export const ACCOUNT_LIMIT: ThrottleLimit = { limit: 10, windowSeconds: 15 * 60 };

/** Fifty wrong passwords from one address, for whichever accounts: an office shares one. */
export const ADDRESS_LIMIT: ThrottleLimit = { limit: 50, windowSeconds: 15 * 60 };

export type PasswordAttempt = {
  /** Forgets the account's failures, and takes this attempt off the address. */
  succeeded: () => Promise<void>;
};

/**
 * Counts one attempt with a password, per account and per address (S115).
 * @param accountThrottle `loginThrottle` at sign-in, `ownPasswordThrottle` for somebody who is signed in
 * @throws ServiceError `rate_limited`
 */
export async function countPasswordAttempt(accountThrottle: string, from: RequestOrigin): Promise<PasswordAttempt> {
  const address = addressKey(from.ip);
  const addressThrottle = address && throttleKey("password-address", address);
  if (addressThrottle) await consumeThrottle(addressThrottle, ADDRESS_LIMIT);
  await consumeThrottle(accountThrottle, ACCOUNT_LIMIT);
  return {
    succeeded: async () => {
      await clearThrottle(accountThrottle);
      // Given back, not cleared: whoever has one account of their own must not be able to wash their guesses away with it.
      if (addressThrottle) await refundThrottle(addressThrottle);
    },
  };
}

/**
 * The counter of wrong passwords for a login as typed, whether it exists or not: one counter for the username and the e-mail address
 * of an account would tell a guesser which address belongs to which name.
 */
export function loginThrottle(login: string): string {
  return throttleKey("password-login", login);
}

/** The counter for those who are signed in; a kind of its own, so that nobody can fill it from the sign-in page. */
export function ownPasswordThrottle(userId: string): string {
  return throttleKey("password-own", userId);
}
