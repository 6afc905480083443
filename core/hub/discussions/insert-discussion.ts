import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { readRepo } from "../repos/read-repos.ts";
import type { Repo } from "../repos/repo.ts";
import type { DiscussionRow, DiscussionStatus } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

export type NewDiscussion = {
  title: string;
  /** Markdown; empty for none. */
  description: string;
  status: DiscussionStatus;
  /** For a pull request. */
  baseRef: string | null;
  authorId: string | null;
};

/**
 * Inserts a discussion with its first comment, under the next number of its repository. Counting up locks the repository's row, so
 * that numbers are given once and in order, and a failed transaction leaves no gap.
 */
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
  const said = description ? await insertEvents(tx, row.id, [{ type: "comment", authorId, content: description }]) : [];
  await recordDiscussionEvent(
    tx,
    { repo, discussion: row, actorId: authorId },
    { scope: "discussion", action: "create", ...(said[0] && { comment: said[0] }) },
  );
  return { repo, row };
}
