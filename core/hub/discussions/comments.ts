import { type Actor, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import type { DiscussionEvent } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { repoResource } from "../repos/repo.ts";
import {
  changeDiscussion,
  countContribution,
  requireUnlocked,
  requireWriting,
  subjectOf,
  type ToChange,
} from "./change-discussion.ts";
import { type Comment, parseComment } from "./discussion.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { readComment } from "./read-timeline.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

export async function addComment(actor: Actor, name: DiscussionName, input: { comment: unknown }): Promise<Comment> {
  const content = parseComment(input.comment);
  await countContribution(actor, "comment", content);
  return changeDiscussion(actor, name, async (to) => {
    await requireWriting(to);
    return insertComment(to, content);
  });
}

/** Does not check permissions. */
export async function insertComment({ tx, actor, actorId, repo, discussion }: ToChange, content: string): Promise<Comment> {
  const [row] = await insertEvents(tx, discussion.id, [{ type: "comment", authorId: actorId, content }]);
  if (!row) throw new Error("no comment was written");
  await tx.discussion.update({
    where: { id: discussion.id },
    data: { commentCount: { increment: 1 }, updatedAt: row.createdAt },
  });
  await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion.comment", action: "create", comment: row });
  return readComment(tx, row, actor);
}

export async function editComment(
  actor: Actor,
  name: DiscussionName,
  commentId: string,
  input: { content: unknown },
): Promise<Comment> {
  const content = parseComment(input.content, "content");
  await countContribution(actor, "comment", content);
  return changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.edit_comment", contribution, { what: "Comment", tx });
    await requireUnlocked(to);
    if (comment.isHidden) throw conflict("This comment is hidden and cannot be edited.");
    if (comment.content === content) return readComment(tx, comment, actor);
    const row = await tx.discussionEvent.update({
      where: { id: comment.id },
      data: { content, editCount: { increment: 1 }, editedAt: new Date() },
    });
    const event = { scope: "discussion.comment", action: "update", comment: row } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    return readComment(tx, row, actor);
  });
}

export async function hideComment(actor: Actor, name: DiscussionName, commentId: string, from: RequestOrigin): Promise<Comment> {
  return changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.update", contribution, { what: "Comment", tx });
    if (comment.isHidden) return readComment(tx, comment, actor);
    const row = await tx.discussionEvent.update({
      where: { id: comment.id },
      data: { isHidden: true, hiddenById: actorId },
    });
    const event = { scope: "discussion.comment", action: "update", comment: row } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    await recordCommentModeration(to, "discussion.hide_comment", comment, from);
    return readComment(tx, row, actor);
  });
}

export async function deleteComment(actor: Actor, name: DiscussionName, commentId: string, from: RequestOrigin): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, repo, discussion, actorId } = to;
    const comment = await findComment(tx, discussion, commentId);
    const contribution = { repo: repoResource(repo), authorId: comment.authorId };
    await requirePermission(actor, "discussion.update", contribution, { what: "Comment", tx });
    await tx.discussionEvent.delete({ where: { id: comment.id } });
    await tx.discussion.update({ where: { id: discussion.id }, data: { commentCount: { decrement: 1 } } });
    const event = { scope: "discussion.comment", action: "delete", comment: { ...comment, content: null } } as const;
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, event);
    await recordCommentModeration(to, "discussion.delete_comment", comment, from);
  });
}

export const reactions = {
  "👍": "thumbs up",
  "👎": "thumbs down",
  "😄": "laughing",
  "🎉": "hooray",
  "😕": "confused",
  "❤️": "heart",
  "🚀": "rocket",
  "👀": "eyes",
} as const;

const canonical = (text: string): string => text.replaceAll("\u{fe0f}", "");
const bySpelling = new Map(Object.keys(reactions).map((reaction) => [canonical(reaction), reaction]));

export async function reactToComment(
  actor: Actor,
  name: DiscussionName,
  commentId: string,
  input: { reaction: unknown; isOn: boolean },
): Promise<Comment> {
  const reaction = typeof input.reaction === "string" ? bySpelling.get(canonical(input.reaction)) : undefined;
  if (!reaction) {
    throw invalidRequest(`Choose one of ${Object.keys(reactions).join(", ")}.`, "reaction");
  }
  await countContribution(actor, "react");
  return changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, discussion } = to;
    await requireWriting(to);
    const comment = await findComment(tx, discussion, commentId);
    if (comment.isHidden) throw conflict("This comment is hidden and cannot get reactions.");
    const row = actorId && { commentId: comment.id, userId: actorId, reaction };
    if (row && input.isOn) await tx.commentReaction.createMany({ data: [row], skipDuplicates: true });
    else if (row) await tx.commentReaction.deleteMany({ where: row });
    return readComment(tx, comment, actor);
  });
}

async function findComment(tx: Db, discussion: { id: string }, commentId: string): Promise<DiscussionEvent> {
  const where = { id: commentId, discussionId: discussion.id, type: "comment" };
  const row = isId(commentId) ? await tx.discussionEvent.findUnique({ where }) : null;
  if (!row) throw notFound("Comment");
  return row;
}

async function recordCommentModeration(
  to: ToChange,
  type: "discussion.hide_comment" | "discussion.delete_comment",
  comment: { id: string; authorId: string | null },
  from: RequestOrigin,
): Promise<void> {
  const { tx, actor, actorId, repo, discussion } = to;
  if (comment.authorId === actorId) return;
  await recordAuditEvent(tx, {
    type,
    actorId,
    clientId: clientIdOf(actor),
    owner: repo.owner,
    subjectId: await subjectOf(to, comment.authorId),
    data: { repo: repo.fullName, type: repo.type, num: discussion.num, comment: comment.id },
    from,
  });
}
