import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";

/** No quota counts what collections contain, and moving one item rewrites the positions of others (S137). */
const CHANGES: ThrottleLimit = { limit: 1_000, windowSeconds: 60 * 60 };

export async function countChange(actor: Actor): Promise<void> {
  const party = partyOf(actor);
  if (party) await consumeThrottle(throttleKey("collection", party), CHANGES);
}
