import type { RequestOrigin } from "../audit/request-origin.ts";
import { isServiceError } from "../errors.ts";
import { addressKey } from "./address-key.ts";
import { addressCounters, clearThrottle, consumeThrottles, type ThrottleLimit, throttleKey } from "./throttle.ts";

const QUARTER_HOUR = 15 * 60;

/** Ten wrong passwords for one account, by one browser that signed in before or from one address; or by a person who is signed in. */
export const ACCOUNT_LIMIT: ThrottleLimit = { limit: 10, windowSeconds: QUARTER_HOUR };

/**
 * A hundred for one account from all addresses: against guessing from many. It is what a stranger with ten addresses can fill, so that
 * it never counts or stops a browser in which the account's owner has signed in before.
 */
export const ACCOUNT_EVERYWHERE_LIMIT: ThrottleLimit = { limit: 100, windowSeconds: QUARTER_HOUR };

/** Fifty wrong passwords from one address, for whichever accounts: an office shares one. */
export const ADDRESS_LIMIT: ThrottleLimit = { limit: 50, windowSeconds: QUARTER_HOUR };

export type PasswordAttempt = {
  /** Verifies the password. When the machine had no place for that, it was no attempt. @throws ServiceError `unavailable` */
  verify: (work: () => Promise<boolean>) => Promise<boolean>;
  /** Forgets the failures of this person's own making, and takes this attempt off the counters that others share. */
  succeeded: () => Promise<void>;
};

/** Who tries a password. `device` is the browser that the account's owner has signed in with before (known-device.ts). */
export type PasswordTrial = { login: string; device: string | undefined } | { signedInUserId: string };

/**
 * Counts one attempt with a password, per account and per address (S115).
 * @throws ServiceError `rate_limited`
 */
export async function countPasswordAttempt(trial: PasswordTrial, from: RequestOrigin): Promise<PasswordAttempt> {
  const { own, shared } = countersOf(trial, from);
  // The shared ones last: an address that is out of tries for this account takes nothing from what everybody has.
  const counted = await consumeThrottles([...own, ...shared]);
  return {
    verify: async (work) => {
      try {
        return await work();
      } catch (error) {
        if (isServiceError(error) && error.code === "unavailable") await Promise.all(counted.map(({ giveBack }) => giveBack()));
        throw error;
      }
    },
    succeeded: async () => {
      await clearThrottle(...own.map(([key]) => key));
      // Given back, not cleared: whoever has one account of their own must not be able to wash their guesses away with it.
      await Promise.all(counted.slice(own.length).map(({ giveBack }) => giveBack()));
    },
  };
}

type Counter = [key: string, limit: ThrottleLimit];

function countersOf(trial: PasswordTrial, from: RequestOrigin): { own: Counter[]; shared: Counter[] } {
  const ofAddress = addressCounters("password-address", from.ip, ADDRESS_LIMIT);
  // A kind of its own, so that nobody can fill it from the sign-in page.
  if ("signedInUserId" in trial) return { own: [[ownPasswordThrottle(trial.signedInUserId), ACCOUNT_LIMIT]], shared: ofAddress };
  const { login, device } = trial;
  // Strangers at the same address, and behind a proxy that is not trusted that is everybody, do not stop it either.
  if (device) return { own: [[throttleKey("password-device", device), ACCOUNT_LIMIT]], shared: [] };
  return {
    own: [[loginAtAddressThrottle(login, from), ACCOUNT_LIMIT]],
    shared: [...ofAddress, [loginThrottle(login), ACCOUNT_EVERYWHERE_LIMIT]],
  };
}

/**
 * The counter of wrong passwords for a login as typed, whether it exists or not: one counter for the username and the e-mail address
 * of an account would tell a guesser which address belongs to which name.
 */
export function loginThrottle(login: string): string {
  return throttleKey("password-login", login);
}

export function loginAtAddressThrottle(login: string, { ip }: RequestOrigin): string {
  return throttleKey("password-login-address", `${addressKey(ip) ?? "unknown"}\n${login}`);
}

export function ownPasswordThrottle(userId: string): string {
  return throttleKey("password-own", userId);
}
