import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { resolveRef } from "../git/refs/resolve-ref.ts";
import { openRepository } from "../git/repository.ts";
import { GitFailed, runGit } from "../git/run-git.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { isAncestor } from "./commits.ts";
import { countContribution } from "./count-contribution.ts";
import { deleteDiscussionRow } from "./delete-discussion-row.ts";
import { type DiscussionRow, pullRequestRef } from "./discussion.ts";
import { insertDiscussion } from "./insert-discussion.ts";
import { requireDiscussions } from "./open-discussion.ts";
import { parseDescription, parseTitle } from "./parse-text.ts";

export type NewPullRequest = {
  title: unknown;
  /** Markdown. */
  description?: unknown;
  /** The branch it is for, without `refs/heads/`; the default branch when it is left out. */
  base?: string;
  /**
   * What it proposes: a commit that is in the repository's object store already, reachable or not, or the tip of a branch. Without
   * it the pull request is a draft that begins at its base, for its author to push to.
   */
  head?: { sha: string } | { branch: string };
};

/**
 * Opens a pull request: its row, then `refs/pr/<num>` through `changeRefs`, so that it is one `discussion` and one `repo.content`
 * event. The row comes first: a process that is killed in between leaves a pull request without commits, to which its author can push,
 * and never a ref that belongs to nobody.
 * @throws ServiceError `invalid_request`, `not_found` (Revision: base or head), `unauthorized`, `insufficient_scope`, `conflict`
 * (switched off, read-only, nothing to propose), `rate_limited`
 */
export async function openPullRequest(
  actor: Actor,
  repo: Repo,
  input: NewPullRequest,
): Promise<{ repo: Repo; row: DiscussionRow; headSha: string | null }> {
  await requireDiscussions(actor, repo);
  if (repo.isReadOnly) throw new ServiceError("conflict", "This repository is read-only: it takes no pull requests.");
  const [title, description] = [parseTitle(input.title), parseDescription(input.description)];
  const path = await openRepository(repo);
  const baseRef = `refs/heads/${input.base ?? repo.defaultBranch}`;
  const baseSha = await resolveBranch(path, baseRef);
  // A repository without a commit can be proposed its first one.
  if (!baseSha && input.base && input.base !== repo.defaultBranch) throw notFound("Revision");
  const proposedSha = await resolveHead(path, input.head, baseSha);
  await countContribution(actor, "open");
  const opened = await db().$transaction(async (tx) => {
    await requirePermission(actor, "discussion.write", repoResource(repo), { what: "Repository", tx });
    const status = proposedSha ? "open" : "draft";
    return insertDiscussion(tx, repo.id, { title, description, status, baseRef, authorId: actorId(actor) });
  });
  const headSha = proposedSha ?? baseSha;
  if (headSha) await createRef(actor, opened, path, headSha);
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
    await changeRefs(repo, actor, [change], async () => {
      await runGit(path, ["update-ref", "--end-of-options", change.ref, newSha, "0".repeat(newSha.length)]);
      return [change];
    });
  } catch (error) {
    await db().$transaction((tx) => deleteDiscussionRow(tx, { repo, discussion: row, actorId: actorId(actor) }));
    throw error;
  }
}

const REF_MAX_CHARACTERS = 250;

async function resolveBranch(path: string, ref: string): Promise<string | null> {
  // Git itself says which names are none (S137); what no argument can carry does not reach it.
  if (ref.length > REF_MAX_CHARACTERS || ref.includes("\0") || !ref.isWellFormed()) throw notFound("Revision");
  try {
    await runGit(path, ["check-ref-format", ref]);
  } catch (error) {
    if (error instanceof GitFailed) throw notFound("Revision");
    throw error;
  }
  return resolveRef(path, ref);
}

async function resolveHead(path: string, head: NewPullRequest["head"], baseSha: string | null): Promise<string | undefined> {
  if (!head) return undefined;
  if ("sha" in head) return head.sha;
  const sha = await resolveBranch(path, `refs/heads/${head.branch}`);
  if (!sha) throw notFound("Revision");
  if (baseSha && (await isAncestor(path, sha, baseSha))) {
    throw new ServiceError("conflict", "This branch has no commit that the other one lacks.", { field: "head" });
  }
  return sha;
}
