import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { isServiceError } from "../../../errors.ts";
import { type Hold, holdStorage, requireRoom, roomOf } from "../../../storage/hold-storage.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { countObjects } from "../count-objects.ts";
import { holdProposal } from "../hold-proposal.ts";
import type { Verdict } from "./judge-arrival.ts";
import { pushMaxBytes } from "./transfer-settings.ts";

/** Beyond what is left of the quota: the pack of a push that only moves or deletes refs, and brings nothing. */
const EMPTY_PACK_BYTES = 64 * 1024;

/** How much of a push git takes in: what cannot stay in the end is not written to the disk in the meantime either. */
export async function pushInputMax(repo: Repo): Promise<number> {
  const room = await roomOf(repo.owner);
  return room === undefined ? pushMaxBytes() : Math.min(pushMaxBytes(), room + EMPTY_PACK_BYTES);
}

/** Whether the owner has room for what has arrived, which still lies apart; if so, it is put aside until it is counted. */
export async function judgeRoom(
  actor: Actor,
  repo: Repo,
  { path, quarantine }: { path: string; quarantine: string | undefined },
): Promise<{ verdict?: Verdict; hold?: Hold }> {
  const { bytes } = quarantine === undefined ? { bytes: 0 } : await countObjects(path, quarantine);
  // Deleting a branch or moving one to an older commit is always possible: it may be how somebody makes room.
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

/** The same for a push of so many bytes whose pack git gave up on: undefined where that was not for want of room. */
export async function judgeUnread(actor: Actor, repo: Repo, bytes: number): Promise<Verdict | undefined> {
  try {
    await requireRoom(repo.owner, bytes, "this push", await asked(actor, repo));
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** Somebody may push to a pull request of their own, and is not to learn how much the repository's owner stores. */
const asked = async (actor: Actor, repo: Repo) => ({ isOutsider: !(await may(actor, "repo.write", repoResource(repo))) });

function refused(error: unknown): Verdict {
  if (!isServiceError(error) || error.code !== "storage_full") throw error;
  return { reason: "no storage left", messages: ["", ...error.message.split(/(?<=\.) (?=[A-Z])/), ""] };
}
