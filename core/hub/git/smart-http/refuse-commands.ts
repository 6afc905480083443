import type { Actor } from "../../../access/actor.ts";
import { may } from "../../../access/may.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { pullRequestPushRefusal } from "../../discussions/pull-request-push-refusal.ts";
import { type Repo, repoResource } from "../../repos/repo.ts";
import { objectReads } from "../queues.ts";
import { runWalk } from "../read/walk.ts";
import { findRefs, REPOSITORY_REFS_MAX, tooManyRefs } from "../refs/git-refs.ts";
import { isNewRefName, isRefName } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { GitFailed, quarantined } from "../run-git.ts";
import type { Refusal } from "./check-arrival.ts";
import type { Command } from "./read-commands.ts";

const PULL_REQUESTS_MAX = 50;

/** Finds the commands to refuse before git gets the push (S137). */
export async function refuseCommands(
  actor: Actor,
  repo: Repo,
  path: string,
  commands: readonly Command[],
): Promise<Map<Command, string>> {
  const refused = await refuseByRight(actor, repo, commands);
  const deletions = commands.filter((command) => command.newSha === null && !refused.has(command));
  if (deletions.length === 0) return refused;
  // Git would report the deletion of a missing ref as done.
  const { refs } = await objectReads.run(() => findRefs(path, namesIn(deletions)), { within: path });
  for (const command of deletions) if (!refs.has(command.ref)) refused.set(command, "there is no such ref");
  return refused;
}

/** Call this again when the push has arrived, because its sender can delay that (S135). */
export async function refuseByRight(actor: Actor, repo: Repo, commands: readonly Command[]): Promise<Map<Command, string>> {
  const refused = new Map<Command, string>();
  const isWriter = await may(actor, "repo.write", repoResource(repo));
  const isTooMany = commands.filter(({ ref }) => numOfPullRequestRef(ref) !== undefined).length > PULL_REQUESTS_MAX;
  for (const command of commands) {
    const num = numOfPullRequestRef(command.ref);
    const reason =
      commandRefusal(repo, command, isWriter) ??
      (isTooMany ? "too many pull requests in one push" : undefined) ??
      (num === undefined ? undefined : await pullRequestPushRefusal(actor, repo, num));
    if (reason) refused.set(command, reason);
  }
  return refused;
}

/** Refuses changes before git would, because git keeps a refused push's objects. Limits refs, which each request reads (S137). */
export async function checkRefs(
  repo: Repo,
  path: string,
  quarantine: string,
  { commands, isAtomic }: { commands: readonly Command[]; isAtomic: boolean },
): Promise<Refusal | undefined> {
  const { refs, total } = await findRefs(path, namesIn(commands));
  const reasons = new Map<Command, string>();
  for (const command of commands) {
    const { ref, oldSha, newSha } = command;
    if ((refs.get(ref) ?? null) !== oldSha) reasons.set(command, "it has changed in the meantime: fetch first");
    else if (oldSha && newSha && isProtectedRef(repo, ref) && (await isForced(path, quarantine, oldSha, newSha)))
      reasons.set(command, `${repo.defaultBranch} is protected: its history cannot be rewritten`);
  }
  const isAllRefused = isAtomic ? reasons.size > 0 : reasons.size === commands.length;
  if (isAllRefused) return { reason: "not changed, because another ref of this push was refused", messages: [], reasons };
  const added = addedRefs(commands);
  if (added <= 0 || total + added <= REPOSITORY_REFS_MAX) return undefined;
  return { reason: "too many refs", messages: [tooManyRefs(total)] };
}

export const addedRefs = (commands: readonly Command[]): number =>
  commands.filter(({ oldSha }) => oldSha === null).length - commands.filter(({ newSha }) => newSha === null).length;

const namesIn = (commands: readonly Command[]) => new Set(commands.map(({ ref }) => ref));

async function isForced(path: string, quarantine: string, oldSha: string, newSha: string): Promise<boolean> {
  try {
    await runWalk(path, ["merge-base", "--is-ancestor", oldSha, newSha], { env: quarantined(path, quarantine) });
    return false;
  } catch (error) {
    if (error instanceof GitFailed) return error.status === 1;
    throw error;
  }
}

function commandRefusal(repo: Repo, { ref, rawRef, oldSha, newSha }: Command, isWriter: boolean): string | undefined {
  if (repo.isReadOnly) return "this repository is read-only";
  if (Buffer.from(ref).toString("latin1") !== rawRef) return "the name is not UTF-8";
  if (numOfPullRequestRef(ref) !== undefined)
    return newSha === null ? "this ref cannot be deleted: close the pull request on its page" : undefined;
  const [, name] = /^refs\/(?:heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (name === undefined) return "you can only push to branches, tags and pull requests";
  if (oldSha === null ? !isNewRefName(name) : !isRefName(name)) return "this cannot be the name of a branch or a tag";
  if (!isWriter) return "you can only push to your own pull requests";
  if (newSha === null && isProtectedRef(repo, ref)) return `${repo.defaultBranch} is protected: it cannot be deleted`;
  return undefined;
}
