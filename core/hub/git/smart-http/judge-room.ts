import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { isServiceError } from "../../../errors.ts";
import { log } from "../../../log.ts";
import { type Hold, holdStorage, requireRoom, roomOf } from "../../../storage/hold-storage.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { countObjects } from "../count-objects.ts";
import { authorShare, holdProposal, proposalRefusal } from "../hold-proposal.ts";
import { REF_BYTES } from "../refs/loose-refs.ts";
import type { Verdict } from "./judge-arrival.ts";
import { pushMaxBytes } from "./transfer-settings.ts";

/** Allowed beyond the rest of the quota: the pack of a push that only moves or deletes refs and adds no objects. */
const EMPTY_PACK_BYTES = 64 * 1024;

/**
 * The size of a step. A push that is smaller than one reserves nothing: there are few slots for pushes, so all small ones together use
 * little.
 */
const STEP_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 500;

/** How much of a push git accepts: what cannot be stored in the end is not written to the disk meanwhile either. */
export async function pushInputMax(actor: Actor, repo: Repo): Promise<number> {
  const { isOutsider } = await asked(actor, repo);
  const room = isOutsider ? await authorShare(repo.owner) : await roomOf(repo.owner);
  return room === undefined ? pushMaxBytes() : Math.min(pushMaxBytes(), Math.floor(room) + EMPTY_PACK_BYTES);
}

/**
 * Reserves storage for a pack while it arrives, in steps: otherwise many large pushes at the same time would fill the disk with several
 * times what fits. Actors who may only propose reserve none, since they could block the owner with it; their pushes are small anyway.
 * @param onFull is called when there is no more storage
 * @returns a function that releases it, and says why if there was no more
 */
export function holdArriving(
  actor: Actor,
  repo: Repo,
  receivedBytes: () => number,
  onFull: () => void,
  { stepBytes = STEP_BYTES, lookEveryMs = LOOK_EVERY_MS } = {},
): () => Promise<Verdict | undefined> {
  const holds: Hold[] = [];
  let verdict: Verdict | undefined;
  let looking: Promise<void> | undefined;
  const look = async () => {
    if (receivedBytes() <= stepBytes || (await asked(actor, repo)).isOutsider) return;
    while (receivedBytes() > (holds.length + 1) * stepBytes) {
      try {
        holds.push(await holdStorage(repo.owner, stepBytes, "this push"));
      } catch (error) {
        // With the size of the whole push, not of a step.
        verdict = (await judgeUnread(actor, repo, receivedBytes())) ?? refused(error);
        clearInterval(timer);
        return onFull();
      }
    }
  };
  const timer = setInterval(() => {
    looking ??= look()
      // Storage is checked once more when it has arrived.
      .catch((err: unknown) => log().warn({ err, repo: repo.id }, "storage for a push could not be reserved"))
      .finally(() => {
        looking = undefined;
      });
  }, lookEveryMs);
  return async () => {
    clearInterval(timer);
    await looking;
    await Promise.all(holds.map((hold) => hold.release()));
    return verdict;
  };
}

/** So many new refs more than deleted ones need no room, for the same reason as objects that exist already. */
const FREE_REFS = 16;

/** Whether the owner has storage for what has arrived in the quarantine, and for new refs; if so, it is reserved until it is counted. */
export async function judgeRoom(
  actor: Actor,
  repo: Repo,
  { path, quarantine, addedRefs }: { path: string; quarantine: string | undefined; addedRefs: number },
): Promise<{ verdict?: Verdict; hold?: Hold }> {
  const objects = quarantine === undefined ? { bytes: 0 } : await countObjects(path, quarantine);
  const bytes = objects.bytes + (addedRefs > FREE_REFS ? addedRefs * REF_BYTES : 0);
  // Deleting a branch or moving it to an older commit is always possible: users may free storage that way.
  if (bytes === 0) return {};
  try {
    const { isOutsider } = await asked(actor, repo);
    return {
      hold: isOutsider ? await holdProposal(actor, repo, bytes, "this push") : await holdStorage(repo.owner, bytes, "this push"),
    };
  } catch (error) {
    return { verdict: refused(error) };
  }
}

/** The verdict on a push of `bytes` whose pack git abandoned; undefined if storage was not the reason. */
export async function judgeUnread(actor: Actor, repo: Repo, bytes: number): Promise<Verdict | undefined> {
  try {
    const { isOutsider } = await asked(actor, repo);
    if (isOutsider && bytes > (await authorShare(repo.owner))) throw proposalRefusal(repo.owner, "this push");
    await requireRoom(repo.owner, bytes, "this push", { isOutsider });
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** An author who pushes to their own pull request must not learn how much the repository's owner stores. */
const asked = async (actor: Actor, repo: Repo) => ({ isOutsider: !(await may(actor, "repo.write", repoResource(repo))) });

function refused(error: unknown): Verdict {
  if (!isServiceError(error) || error.code !== "storage_full") throw error;
  return { reason: "no storage left", messages: ["", ...error.message.split(/(?<=\.) (?=[A-Z])/), ""] };
}
