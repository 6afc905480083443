import { join } from "node:path";
import type { Actor, ActorNow } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { conflict } from "../../errors.ts";
import { log } from "../../log.ts";
import { type Hold, holdStorage } from "../../storage/hold-storage.ts";
import { countObjects, recountRepository } from "../git/count-objects.ts";
import { FREE_BYTES, holdOrOverdraw } from "../git/hold-or-overdraw.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef, updateRefs } from "../git/refs/git-refs.ts";
import { recheckPermission, requireChangeable } from "../git/refs/require-changeable.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { signatureOf } from "../git/write/build-commit.ts";
import { openQuarantine, type Quarantine } from "../git/write/quarantine.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { changeDiscussion, countContribution } from "./change-discussion.ts";
import { insertComment } from "./comments.ts";
import { isAncestor } from "./commits.ts";
import { type Discussion, parseDescription, pullRequestRef } from "./discussion.ts";
import { type DiscussionName, findDiscussion } from "./find-discussion.ts";
import { requireRoom } from "./insert-events.ts";
import { mergeTree } from "./merge-tree.ts";
import { type MergedCommits, setStatus } from "./properties.ts";

type MergeInput = {
  comment?: unknown;
  /** The commit that the user has reviewed. Only this commit is merged. */
  headSha?: string | undefined;
  isFastForward?: boolean | undefined;
};

const ATTEMPTS = 4;

/** @returns the new commit of the base */
export async function mergePullRequest(
  actor: Actor,
  name: DiscussionName,
  input: MergeInput = {},
  actorNow: ActorNow = async () => actor,
): Promise<string> {
  const { repo, discussion } = await findDiscussion(actor, name);
  const ask = async (now: Actor, current: Repo) => {
    await requirePermission(now, "discussion.merge", repoResource(current), { what: "Discussion" });
    requireChangeable(current);
  };
  await ask(actor, repo);
  const comment = parseDescription(input.comment, "comment");
  if (comment) {
    await countContribution(actor, "comment", comment);
    await requireRoom(db(), discussion.id);
  }
  const path = await openRepository(repo);
  const headRef = pullRequestRef(discussion.num);
  const baseRef = requireMergeable(discussion);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [headSha, baseSha] = await Promise.all([resolveRef(path, headRef), resolveRef(path, baseRef)]);
    if (!headSha) throw conflict(`The pull request has no commits to merge. Push to ${headRef} first.`);
    if (input.headSha && input.headSha !== headSha) {
      throw conflict("New commits were pushed. Review them before you merge.");
    }
    if (!baseSha && baseRef !== `refs/heads/${repo.defaultBranch}`)
      throw conflict("The base branch no longer exists. Open a new pull request.");
    if (baseSha && (await isAncestor(path, headSha, baseSha)))
      throw conflict("The base branch already contains all commits of this pull request.");
    const isForward = !baseSha || (input.isFastForward === true && (await isAncestor(path, baseSha, headSha)));
    if (input.isFastForward && !isForward) {
      throw conflict("The base branch has newer commits. Merge with a merge commit.");
    }
    const quarantine = await openQuarantine(path);
    try {
      const newSha = isForward ? headSha : await mergeCommit(path, quarantine, actor, discussion, { baseSha, headSha });
      await recheckPermission(repo, actorNow, ask);
      const hold = await holdRoom(repo, quarantine);
      const change = { ref: baseRef, oldSha: baseSha, newSha };
      const asMerged = { ref: headRef, oldSha: headSha, newSha: headSha };
      const perform = async () => {
        await quarantine.release();
        return (await updateRefs(path, [change, asMerged])).filter(({ ref }) => ref === baseRef);
      };
      const merging = changeRefs(repo, actor, [change], perform, objectsOf(quarantine));
      const changed = await merging.finally(() => hold?.release());
      if (changed) {
        await finish(actor, name, { newSha, comment, merged: { headSha, baseSha } });
        return newSha;
      }
    } finally {
      await quarantine.discard();
    }
    await recountRepository(repo.id).catch((err: unknown) =>
      log().warn({ err, repo: repo.id }, "a repository's size could not be counted"),
    );
  }
  throw conflict("The base branch is changing. Try again in a moment.");
}

const objectsOf = ({ path }: Quarantine): string => join(path, "objects");

/** Deleting files can free storage, so a small merge may exceed the quota. */
async function holdRoom({ owner }: Repo, { path }: Quarantine): Promise<Hold | undefined> {
  const { bytes } = await countObjects(path);
  return (bytes < FREE_BYTES ? holdOrOverdraw : holdStorage)(owner, bytes, "this merge");
}

function requireMergeable({ isPullRequest, status, baseRef }: Discussion): string {
  if (!isPullRequest || !baseRef) throw conflict("Only a pull request can be merged.");
  if (status === "merged") throw conflict("This pull request is already merged.");
  if (status === "draft") throw conflict("This pull request is a draft. Open it for review first.");
  if (status === "closed") throw conflict("This pull request is closed. Reopen it first.");
  return baseRef;
}

async function finish(
  actor: Actor,
  name: DiscussionName,
  { newSha, comment, merged }: { newSha: string; comment: string; merged: MergedCommits },
): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, repo, actorId } = to;
    if (to.discussion.status !== "merged") {
      const discussion = await tx.discussion.update({ where: { id: to.discussion.id }, data: { mergeCommitSha: newSha } });
      await setStatus(tx, { repo, discussion, actorId }, "merged", merged);
    }
    if (comment) await insertComment(to, comment);
  });
}

const FILES_NAMED = 10;

async function mergeCommit(
  path: string,
  quarantine: Quarantine,
  actor: Actor,
  { num, title }: Pick<Discussion, "num" | "title">,
  { baseSha, headSha }: { baseSha: string; headSha: string },
): Promise<string> {
  const merged = await mergeTree(path, baseSha, headSha, objectsOf(quarantine));
  if (merged.outcome === "conflicts") throw conflict(conflictSentence(merged.files));
  if (merged.outcome === "unrelated")
    throw conflict(
      "This pull request has no history in common with the base branch. Open a new one from a branch that starts there.",
    );
  const signature = await signatureOf(actor);
  const lines = [
    `tree ${merged.tree}`,
    `parent ${baseSha}`,
    `parent ${headSha}`,
    `author ${signature}`,
    `committer ${signature}`,
    "",
    `Merge pull request #${num}`,
    "",
    title,
    "",
  ];
  const args = ["hash-object", "-t", "commit", "-w", "--stdin"];
  return (await runGit(quarantine.path, args, { input: lines.join("\n") })).toString("latin1").trim();
}

function conflictSentence(files: readonly string[]): string {
  const named = files.slice(0, FILES_NAMED).join(", ");
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : "";
  return `Both sides changed ${named}${more}. Merge the base branch into the pull request first.`;
}
