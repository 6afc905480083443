import type { RequestOrigin } from "../../audit/request-origin.ts";
import { clearThrottle, consumeAddressThrottle, consumeThrottle, type ThrottleLimit, throttleKey } from "../throttle.ts";

/** A random code is right once in 333,333 attempts, as three are accepted. Correct codes do not reset the day's counter. */
export const CODE_LIMIT: ThrottleLimit = { limit: 5, windowSeconds: 15 * 60 };
export const CODE_DAY_LIMIT: ThrottleLimit = { limit: 30, windowSeconds: 24 * 60 * 60 };

/** Recovery codes have a counter of their own, so that the owner can use them after somebody else has guessed too many codes. */
const RECOVERY_LIMIT: ThrottleLimit = { limit: 10, windowSeconds: 15 * 60 };

const ADDRESS_LIMIT: ThrottleLimit = { limit: 50, windowSeconds: 15 * 60 };
const CHALLENGE_LIMIT: ThrottleLimit = { limit: 100, windowSeconds: 15 * 60 };

type SecondStepKind = "code" | "recovery-code" | "passkey";

type SecondStepAttempt = {
  isLast: boolean;
  succeeded: () => Promise<void>;
};

/** S115: a passkey cannot be guessed, so it counts by address only. */
export async function countSecondStepAttempt(
  userId: string,
  kind: SecondStepKind,
  from: RequestOrigin,
): Promise<SecondStepAttempt> {
  const ofAddress = await consumeAddressThrottle("second-step-address", from.ip, ADDRESS_LIMIT);
  let isLast = false;
  const undos = ofAddress.map(({ giveBack }) => giveBack);
  for (const { key, limit, isResetBySuccess } of countersOf(userId)[kind]) {
    const { count, giveBack } = await consumeThrottle(key, limit);
    isLast = count === limit.limit || isLast;
    undos.push(isResetBySuccess ? () => clearThrottle(key) : giveBack);
  }
  return {
    isLast,
    succeeded: async () => {
      await Promise.all(undos.map((undo) => undo()));
    },
  };
}

type Counter = { key: string; limit: ThrottleLimit; isResetBySuccess: boolean };

function countersOf(userId: string): Record<SecondStepKind, Counter[]> {
  return {
    code: [
      { key: throttleKey("second-step-code", userId), limit: CODE_LIMIT, isResetBySuccess: true },
      { key: throttleKey("second-step-code-day", userId), limit: CODE_DAY_LIMIT, isResetBySuccess: false },
    ],
    "recovery-code": [{ key: throttleKey("second-step-recovery", userId), limit: RECOVERY_LIMIT, isResetBySuccess: true }],
    passkey: [],
  };
}

/** Challenges are limited, because each is a row and anybody may ask for one. */
export async function countChallenge(from: RequestOrigin): Promise<void> {
  await consumeAddressThrottle("passkey-challenge", from.ip, CHALLENGE_LIMIT);
}
