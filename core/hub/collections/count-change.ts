import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";

/**
 * No quota counts what collections contain, and a new position of one item rewrites those of its neighbors (S137). The limit is high enough
 * for somebody who moves their collections here.
 */
const CHANGES: ThrottleLimit = { limit: 1_000, windowSeconds: 60 * 60 };

/** Counts a change of a collection or of its items by a user. @throws ServiceError `rate_limited` */
export async function countChange(actor: Actor): Promise<void> {
  const party = partyOf(actor);
  if (party) await consumeThrottle(throttleKey("collection", party), CHANGES);
}
