import { type Actor, actorId } from "../../access/actor.ts";
import { inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { requireRoomForRef, resolveRef, updateRefs } from "../git/refs/git-refs.ts";
import { branchRef } from "../git/refs/ref-name.ts";
import { requireChangeable } from "../git/refs/require-changeable.ts";
import { openRepository } from "../git/repository.ts";
import { claimFiles, type ProposedPointer } from "../lfs/proposals/proposed-files.ts";
import type { Repo } from "../repos/repo.ts";
import { countContribution } from "./change-discussion.ts";
import { isAncestor } from "./commits.ts";
import { deleteDiscussionRow } from "./delete-discussion.ts";
import { type DiscussionRow, parseDescription, parseTitle, pullRequestRef } from "./discussion.ts";
import { insertDiscussion, recheckPermission, requireDiscussions } from "./open-discussion.ts";

type NewPullRequest = {
  title: unknown;
  description?: unknown;
  base?: string;
  /** `store` writes a new commit. Without `head`, the pull request is a draft at its base. */
  head?: { sha: string; store?: () => Promise<void> } | { branch: string };
  largeFiles?: { storeId: string | undefined; pointers: readonly ProposedPointer[] };
};

/** Inserts the row before the ref. If this fails in between, the author can still push to the pull request. */
export async function openPullRequest(
  actor: Actor,
  repo: Repo,
  input: NewPullRequest,
): Promise<{ repo: Repo; row: DiscussionRow; headSha: string | null }> {
  await requireDiscussions(actor, repo);
  requireChangeable(repo);
  const [title, description] = [parseTitle(input.title), parseDescription(input.description)];
  const path = await openRepository(repo);
  const baseRef = branchRef(input.base ?? repo.defaultBranch);
  const baseSha = await resolveRef(path, baseRef);
  if (!baseSha && input.base && input.base !== repo.defaultBranch) throw notFound("Revision");
  const proposedSha = await resolveHead(path, input.head, baseSha);
  await requireRoomForRef(path, { isPullRequest: true });
  await countContribution(actor, "open", description);
  if (input.head && "sha" in input.head) await input.head.store?.();
  const opened = await inTransaction(async (tx) => {
    const status = proposedSha ? "open" : "draft";
    const opened = await insertDiscussion(tx, repo.id, { title, description, status, baseRef, authorId: actorId(actor) });
    const { storeId, pointers = [] } = input.largeFiles ?? {};
    await claimFiles(tx, { repoId: repo.id, num: opened.row.num, storeId }, pointers);
    return recheckPermission(actor, opened, tx);
  });
  const headSha = proposedSha ?? baseSha;
  // The caller's `lfsRemovedAt` makes `changeRefs` refuse if large files were deleted since the caller's check.
  const { lfsRemovedAt } = repo;
  if (headSha) await createRef(actor, { ...opened, repo: { ...opened.repo, lfsRemovedAt } }, path, headSha);
  return { ...opened, headSha };
}

async function createRef(
  actor: Actor,
  { repo, row }: { repo: Repo; row: DiscussionRow },
  path: string,
  newSha: string,
): Promise<void> {
  const change = { ref: pullRequestRef(row.num), oldSha: null, newSha };
  try {
    const made = await changeRefs(repo, actor, [change], () => updateRefs(path, [change]));
    if (!made) throw conflict(`${change.ref} already exists. Try again.`);
  } catch (error) {
    // If the ref exists and only the recording failed, the pull request stays.
    if ((await resolveRef(path, change.ref)) !== newSha)
      await inTransaction((tx) => deleteDiscussionRow(tx, { repo, discussion: row, actorId: actorId(actor) }));
    throw error;
  }
}

async function resolveHead(path: string, head: NewPullRequest["head"], baseSha: string | null): Promise<string | undefined> {
  if (!head) return undefined;
  if ("sha" in head) return head.sha;
  const sha = await resolveRef(path, branchRef(head.branch));
  if (!sha) throw notFound("Revision");
  if (baseSha && (await isAncestor(path, sha, baseSha))) {
    throw conflict("The base branch already contains all commits of this branch.", "head");
  }
  return sha;
}
