import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { type Hold, holdStorage } from "../../../storage/hold-storage.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { countObjects } from "../count-objects.ts";
import { FREE_BYTES, holdOrOverdraw } from "../hold-or-overdraw.ts";
import { authorShare, holdProposal, proposalRefusal } from "../hold-proposal.ts";
import type { Collected } from "./collect-changes.ts";

const isOutsider = async (actor: Actor, repo: Repo): Promise<boolean> => !(await may(actor, "repo.write", repoResource(repo)));

/** @returns a function that throws ServiceError `storage_full` if there is too much content */
export async function boundContents(actor: Actor, repo: Repo): Promise<(bytes: number) => void> {
  let left = (await isOutsider(actor, repo)) ? await authorShare(repo.owner) : Number.POSITIVE_INFINITY;
  return (bytes) => {
    left -= bytes;
    if (left < 0) throw proposalRefusal(repo.owner, "this commit");
  };
}

/** A writer can always delete, to free storage. For others, folders count too: a small request may write a large folder. */
export async function holdCommit(
  actor: Actor,
  repo: Repo,
  { changes, hasContent }: Collected,
  quarantine: string,
): Promise<Hold | undefined> {
  const { bytes } = await countObjects(quarantine);
  if (await isOutsider(actor, repo)) return holdProposal(actor, repo, bytes, "this commit");
  const mayExceed = (bytes < FREE_BYTES && !hasContent) || changes.every(({ kind }) => kind === "delete");
  return (mayExceed ? holdOrOverdraw : holdStorage)(repo.owner, bytes, "this commit");
}
