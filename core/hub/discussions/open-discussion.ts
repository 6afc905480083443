import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { readRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource } from "../repos/repo.ts";
import { countContribution } from "./change-discussion.ts";
import { type DiscussionRow, type DiscussionStatus, parseDescription, parseTitle } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

export async function openDiscussion(
  actor: Actor,
  repo: Repo,
  input: { title: unknown; description?: unknown },
): Promise<{ repo: Repo; row: DiscussionRow }> {
  await requireDiscussions(actor, repo);
  const [title, description] = [parseTitle(input.title), parseDescription(input.description)];
  await countContribution(actor, "open", description);
  return inTransaction(async (tx) => {
    const opened = await insertDiscussion(tx, repo.id, {
      title,
      description,
      status: "open",
      baseRef: null,
      authorId: actorId(actor),
    });
    return recheckPermission(actor, opened, tx);
  });
}

/** Call this after locking the repository's row. */
export async function recheckPermission<T extends { repo: Repo }>(actor: Actor, opened: T, tx: Db): Promise<T> {
  await requirePermission(actor, "discussion.write", repoResource(opened.repo), { what: "Repository", tx });
  return opened;
}

export async function requireDiscussions(actor: Actor, repo: Repo): Promise<void> {
  await requirePermission(actor, "discussion.write", repoResource(repo), { what: "Repository" });
  if (repo.platformId) throw conflict("This repository is hosted on another platform. Discuss it there.");
  if (!repo.hasDiscussions) throw conflict("Discussions and pull requests are disabled for this repository.");
}

type NewDiscussion = {
  title: string;
  description: string;
  status: DiscussionStatus;
  baseRef: string | null;
  authorId: string | null;
};

/** The increment locks the row, so each number is used once. */
export async function insertDiscussion(
  tx: Db,
  repoId: string,
  input: NewDiscussion,
): Promise<{ repo: Repo; row: DiscussionRow }> {
  const { title, description, status, baseRef, authorId } = input;
  const [counted] = await tx.$queryRaw<{ num: number }[]>`
    UPDATE repo SET last_discussion_num = last_discussion_num + 1 WHERE id = ${repoId} RETURNING last_discussion_num AS num`;
  const repo = counted && (await readRepo(repoId, tx));
  if (!repo) throw notFound("Repository");
  const row = await tx.discussion.create({
    data: {
      id: newId(),
      repoId,
      num: counted.num,
      title,
      status,
      isPullRequest: baseRef !== null,
      baseRef,
      authorId,
      commentCount: description ? 1 : 0,
    },
  });
  const comments = description ? await insertEvents(tx, row.id, [{ type: "comment", authorId, content: description }]) : [];
  await recordDiscussionEvent(
    tx,
    { repo, discussion: row, actorId: authorId },
    { scope: "discussion", action: "create", ...(comments[0] && { comment: comments[0] }) },
  );
  return { repo, row };
}
