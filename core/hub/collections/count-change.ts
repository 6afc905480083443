import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";

/** S137: no quota counts the contents of collections, and moving one item rewrites the positions of others. */
const CHANGES: ThrottleLimit = { limit: 1_000, windowSeconds: 60 * 60 };

export async function countChange(actor: Actor): Promise<void> {
  const party = partyOf(actor);
  if (party) await consumeThrottle(throttleKey("collection", party), CHANGES);
}
