import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { countContribution } from "./count-contribution.ts";
import type { DiscussionRow } from "./discussion.ts";
import { insertDiscussion } from "./insert-discussion.ts";
import { parseDescription, parseTitle } from "./parse-text.ts";

/**
 * Opens a discussion.
 * @throws ServiceError `invalid_request` (title, description), `unauthorized`, `insufficient_scope`, `conflict` if discussions are
 * disabled, `rate_limited`
 */
export async function openDiscussion(
  actor: Actor,
  repo: Repo,
  input: { title: unknown; description?: unknown },
): Promise<{ repo: Repo; row: DiscussionRow }> {
  await requireDiscussions(actor, repo);
  const [title, description] = [parseTitle(input.title), parseDescription(input.description)];
  await countContribution(actor, "open");
  return db().$transaction(async (tx) => {
    const opened = await insertDiscussion(tx, repo.id, {
      title,
      description,
      status: "open",
      baseRef: null,
      authorId: actorId(actor),
    });
    return stillOpenTo(actor, opened, tx);
  });
}

/** Returns what was opened, unless its author may no longer see the repository: its row is locked since the number was taken. */
export async function stillOpenTo<T extends { repo: Repo }>(actor: Actor, opened: T, tx: Db): Promise<T> {
  await requirePermission(actor, "discussion.write", repoResource(opened.repo), { what: "Repository", tx });
  return opened;
}

/** Whether discussions may be opened here, and by this actor. */
export async function requireDiscussions(actor: Actor, repo: Repo): Promise<void> {
  await requirePermission(actor, "discussion.write", repoResource(repo), { what: "Repository" });
  if (repo.platformId) throw new ServiceError("conflict", "This repository lies elsewhere. Discuss it at its own address.");
  if (!repo.hasDiscussions) {
    throw new ServiceError("conflict", "Discussions and pull requests are switched off for this repository.");
  }
}
