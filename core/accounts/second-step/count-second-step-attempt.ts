import type { RequestOrigin } from "../../audit/request-origin.ts";
import { clearThrottle, consumeAddressThrottle, consumeThrottle, type ThrottleLimit, throttleKey } from "../throttle.ts";

/**
 * A random code of six digits is right once in 333,333 attempts, since three are accepted at a time. With thirty attempts a
 * day, a person who already has the password has one chance in thirty in a year of guessing, and the account's owner is told on
 * the first day.
 */
export const CODE_LIMIT: ThrottleLimit = { limit: 5, windowSeconds: 15 * 60 };
const CODE_DAY_LIMIT: ThrottleLimit = { limit: 30, windowSeconds: 24 * 60 * 60 };

/** Counted separately, so that exhausting the counter above does not block the owner's recovery codes. */
const RECOVERY_LIMIT: ThrottleLimit = { limit: 10, windowSeconds: 15 * 60 };

const ADDRESS_LIMIT: ThrottleLimit = { limit: 50, windowSeconds: 15 * 60 };
const CHALLENGE_LIMIT: ThrottleLimit = { limit: 100, windowSeconds: 15 * 60 };

type SecondStepKind = "code" | "recovery-code" | "passkey";

type SecondStepAttempt = {
  /** Whether this is the window's last attempt, after which the account's owner is notified. */
  isLast: boolean;
  succeeded: () => Promise<void>;
};

/**
 * Counts one attempt at the second step, per account and per address (S115). A passkey cannot be guessed and is counted by
 * address only.
 * @throws ServiceError `rate_limited`
 */
export async function countSecondStepAttempt(
  userId: string,
  kind: SecondStepKind,
  from: RequestOrigin,
): Promise<SecondStepAttempt> {
  const ofAddress = await consumeAddressThrottle("second-step-address", from.ip, ADDRESS_LIMIT);
  const counters = countersOf(userId)[kind];
  let isLast = false;
  for (const [key, limit] of counters) isLast = (await consumeThrottle(key, limit)).count === limit.limit || isLast;
  return {
    isLast,
    succeeded: async () => {
      await clearThrottle(...counters.map(([key]) => key));
      await Promise.all(ofAddress.map(({ giveBack }) => giveBack()));
    },
  };
}

function countersOf(userId: string): Record<SecondStepKind, [key: string, limit: ThrottleLimit][]> {
  return {
    code: [
      [throttleKey("second-step-code", userId), CODE_LIMIT],
      [throttleKey("second-step-code-day", userId), CODE_DAY_LIMIT],
    ],
    "recovery-code": [[throttleKey("second-step-recovery", userId), RECOVERY_LIMIT]],
    passkey: [],
  };
}

/** Counts challenges: each is a row, and anybody may ask for one. @throws ServiceError `rate_limited` */
export async function countChallenge(from: RequestOrigin): Promise<void> {
  await consumeAddressThrottle("passkey-challenge", from.ip, CHALLENGE_LIMIT);
}
