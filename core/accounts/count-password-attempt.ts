import type { RequestOrigin } from "../audit/request-origin.ts";
import { isServiceError } from "../errors.ts";
import { addressKey } from "./address-key.ts";
import type { KnownDevice } from "./known-device.ts";
import { addressCounters, clearThrottle, consumeThrottles, type ThrottleLimit, throttleCount, throttleKey } from "./throttle.ts";

const QUARTER_HOUR = 15 * 60;

const ACCOUNT_LIMIT: ThrottleLimit = { limit: 10, windowSeconds: QUARTER_HOUR };

/** Limits guessing from many addresses. Attempts in known browsers do not count, so that a stranger cannot lock the owner out. */
export const ACCOUNT_EVERYWHERE_LIMIT: ThrottleLimit = { limit: 100, windowSeconds: QUARTER_HOUR };

/** Above this limit, a known browser counts like an unknown one, because its cookie may have been copied. */
export const KNOWN_BROWSERS_LIMIT: ThrottleLimit = { limit: 100, windowSeconds: 24 * 60 * 60 };

/** The limit of one address over all accounts. It is higher than for one account, because an office shares one address. */
const ADDRESS_LIMIT: ThrottleLimit = { limit: 50, windowSeconds: QUARTER_HOUR };

type PasswordAttempt = {
  verify: (work: () => Promise<boolean>) => Promise<boolean>;
  succeeded: () => Promise<void>;
};

type PasswordTrial = { login: string; device: KnownDevice | undefined } | { signedInUserId: string };

/** Counts one attempt with a password, both for the account and for the address (S115). */
export async function countPasswordAttempt(trial: PasswordTrial, from: RequestOrigin): Promise<PasswordAttempt> {
  const { own, shared } = await countersOf(trial, from);
  // The shared counters come last, so that attempts beyond the account's own limit do not use them up.
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
      // The shared counters only get this attempt back. If they were reset, attackers could clear them by signing in to their own
      // account.
      await Promise.all(counted.slice(own.length).map(({ giveBack }) => giveBack()));
    },
  };
}

type Counter = [key: string, limit: ThrottleLimit];

async function countersOf(trial: PasswordTrial, from: RequestOrigin): Promise<{ own: Counter[]; shared: Counter[] }> {
  const ofAddress = addressCounters("password-address", from.ip, ADDRESS_LIMIT);
  // Attempts on the sign-in page have other counters, so that nobody can use them to lock out a signed-in user.
  if ("signedInUserId" in trial) return { own: [[ownPasswordThrottle(trial.signedInUserId), ACCOUNT_LIMIT]], shared: ofAddress };
  const { login, device } = trial;
  const ofKnown = device && knownBrowsersThrottle(device.userId);
  // The address does not count for a known browser, because behind an untrusted proxy everybody has the same address.
  if (ofKnown && (await throttleCount(ofKnown)) < KNOWN_BROWSERS_LIMIT.limit) {
    const shared: Counter = [ofKnown, { ...KNOWN_BROWSERS_LIMIT, limit: Number.POSITIVE_INFINITY }];
    return { own: [[throttleKey("password-device", device.device), ACCOUNT_LIMIT]], shared: [shared] };
  }
  return {
    own: [[loginAtAddressThrottle(login, from), ACCOUNT_LIMIT]],
    shared: [...ofAddress, [loginThrottle(login), ACCOUNT_EVERYWHERE_LIMIT]],
  };
}

/** The key is the login as typed, because a common counter would link an account's username and email address. */
export function loginThrottle(login: string): string {
  return throttleKey("password-login", login);
}

export function knownBrowsersThrottle(userId: string): string {
  return throttleKey("password-known", userId);
}

export function loginAtAddressThrottle(login: string, { ip }: RequestOrigin): string {
  return throttleKey("password-login-address", `${addressKey(ip) ?? "unknown"}\n${login}`);
}

export function ownPasswordThrottle(userId: string): string {
  return throttleKey("password-own", userId);
}
