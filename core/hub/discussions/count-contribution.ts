import { type Actor, actorId } from "../../access/actor.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";

const HOUR = 60 * 60;
/** Far above what people write, and enough for a bot that answers webhooks. */
const limits = {
  open: { limit: 300, windowSeconds: HOUR },
  /** Also counts changes of a discussion, with or without a comment: each is an event for those who watch. */
  comment: { limit: 1_000, windowSeconds: HOUR },
  react: { limit: 2_000, windowSeconds: HOUR },
} as const;

/** Counts what a person adds to discussions in all repositories. @throws ServiceError `rate_limited` */
export async function countContribution(actor: Actor, kind: keyof typeof limits): Promise<void> {
  const userId = actorId(actor);
  if (userId) await consumeThrottle(throttleKey(`discussion-${kind}`, userId), limits[kind]);
}
