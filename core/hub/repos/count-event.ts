import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { type Repo, repoPayload } from "./repo.ts";

/** S137: events are kept for a month, and no storage quota counts them. */
const EVENT_BYTES: ThrottleLimit = { limit: 128 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

/** Call this before the change. `change` is the event without the repository. */
export async function countEvent(repo: Repo, actor: Actor, change: object): Promise<void> {
  const party = partyOf(actor);
  if (!party) return;
  await consumeBytes(throttleKey("repo-events", party), JSON.stringify({ repo: repoPayload(repo), ...change }), EVENT_BYTES);
}
