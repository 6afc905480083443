import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { type Repo, repoPayload } from "./repo.ts";

/** Events are kept for a month and do not count towards the storage quota, so their size is limited here (S137). */
const EVENT_BYTES: ThrottleLimit = { limit: 128 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

/** Call this before the change. `change` is what the event contains besides the repository. */
export async function countEvent(repo: Repo, actor: Actor, change: object): Promise<void> {
  const party = partyOf(actor);
  if (!party) return;
  await consumeBytes(throttleKey("repo-events", party), JSON.stringify({ repo: repoPayload(repo), ...change }), EVENT_BYTES);
}
