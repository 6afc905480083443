import { type Actor, actorId } from "../../access/actor.ts";
import { db } from "../../db.ts";
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
  /** Markdown. */
  description?: unknown;
  /** Its base branch, without `refs/heads/`; by default the repository's default branch. */
  base?: string;
  /**
   * What it proposes: a commit, which `store` puts into the repository unless it is there already, or the tip of a branch. Without it
   * the pull request is a draft that starts at its base, and its author pushes to it.
   */
  head?: { sha: string; store?: () => Promise<void> } | { branch: string };
  /** Large files of its commits that are in its author's store of proposals. */
  largeFiles?: { storeId: string | undefined; pointers: readonly ProposedPointer[] };
};

/**
 * Opens a pull request: inserts its row, then creates `refs/pr/<num>` through `changeRefs`, so that there is one `discussion` and one
 * `repo.content` event. The row comes first: a process killed in between leaves a pull request without commits, to which its author can
 * push, and never a ref that belongs to nobody.
 * @throws ServiceError `invalid_request`, `not_found` (Revision: base or head), `unauthorized`, `insufficient_scope`, `forbidden`
 * (read-only), `conflict` (disabled, nothing to propose, too many refs), `rate_limited`, `unavailable`
 */
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
  // A pull request may propose the first commit of an empty repository.
  if (!baseSha && input.base && input.base !== repo.defaultBranch) throw notFound("Revision");
  const proposedSha = await resolveHead(path, input.head, baseSha);
  await requireRoomForRef(path, { isPullRequest: true });
  await countContribution(actor, "open", description);
  if (input.head && "sha" in input.head) await input.head.store?.();
  const opened = await db().$transaction(async (tx) => {
    const status = proposedSha ? "open" : "draft";
    const opened = await insertDiscussion(tx, repo.id, { title, description, status, baseRef, authorId: actorId(actor) });
    const { storeId, pointers = [] } = input.largeFiles ?? {};
    await claimFiles(tx, { repoId: repo.id, num: opened.row.num, storeId }, pointers);
    return recheckPermission(actor, opened, tx);
  });
  const headSha = proposedSha ?? baseSha;
  // The large files of the pull request were checked against `repo` as the caller read it. With its `lfsRemovedAt`, `changeRefs` refuses
  // if large files were deleted since.
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
    // If the ref exists but could not be recorded in time, it will be recorded later: its pull request stays.
    if ((await resolveRef(path, change.ref)) !== newSha)
      await db().$transaction((tx) => deleteDiscussionRow(tx, { repo, discussion: row, actorId: actorId(actor) }));
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
