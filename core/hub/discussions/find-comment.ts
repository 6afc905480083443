import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { DiscussionEvent } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";

/** A comment of a discussion. @throws ServiceError `not_found` */
export async function findComment(tx: Db, discussion: { id: string }, commentId: string): Promise<DiscussionEvent> {
  const where = { id: commentId, discussionId: discussion.id, type: "comment" };
  const row = isId(commentId) ? await tx.discussionEvent.findUnique({ where }) : null;
  if (!row) throw notFound("Comment");
  return row;
}
