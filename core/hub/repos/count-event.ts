import { type Actor, actorId } from "../../access/actor.ts";
import { isOwnProgram } from "../../access/may.ts";
import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { type Repo, repoPayload } from "./repo.ts";

/** The size of the events of one account's changes. No quota counts them, and they are kept for a month (S137). */
const EVENT_BYTES: ThrottleLimit = { limit: 128 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

/**
 * Counts the event of a change before the change is made.
 * @param change what the event has besides the repository
 * @throws ServiceError `rate_limited`
 */
export async function countEvent(repo: Repo, actor: Actor, change: object): Promise<void> {
  const party = partyOf(actor);
  if (!party) return;
  await consumeBytes(throttleKey("repo-events", party), JSON.stringify({ repo: repoPayload(repo), ...change }), EVENT_BYTES);
}

/** The CI jobs that a user trusts have a limit together, and so have the user's apps: neither can keep the user from changing anything. */
function partyOf(actor: Actor): string | null {
  if (actor.kind === "publisher") return `jobs of ${actor.trustedById}`;
  return actor.kind === "token" && !isOwnProgram(actor) ? `apps of ${actor.userId}` : actorId(actor);
}
