import { type Actor, actorId } from "../../access/actor.ts";
import { type Page, pageBounds } from "../../accounts/page.ts";
import { type Db, db } from "../../db.ts";
import type { DiscussionEvent } from "../../generated/prisma/client.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { Comment, DiscussionStatus, ReactionCount, TimelineEvent } from "./discussion.ts";
import { type Authors, readAuthors } from "./find-discussion.ts";

export const EVENTS_ON_A_PAGE = 100;
const EVENTS_MAX = 500;
/** S137: rendering long comments is expensive, so a long one counts as several events. */
const BYTES_PER_EVENT = 2_048;

export async function readTimeline(
  actor: Actor,
  discussion: { id: string },
  request: { page?: number; pageSize?: number } = {},
): Promise<Page<TimelineEvent>> {
  const { page } = pageBounds(request);
  const pageSize = Math.min(request.pageSize ?? EVENTS_ON_A_PAGE, EVENTS_MAX);
  const [from, to] = [(page - 1) * pageSize, page * pageSize];
  const [found] = await db().$queryRaw<{ total: number; ids: string[] }[]>`
    SELECT coalesce(max(at) + 1, 0)::int AS total, coalesce(array_agg(id) FILTER (WHERE at >= ${from} AND at < ${to}), '{}') AS ids FROM (
      SELECT id, sum(size) OVER (ORDER BY created_at, id) - size AS at FROM (
        SELECT id, created_at, 1 + octet_length(coalesce(content, '')) / ${BYTES_PER_EVENT} AS size
          FROM discussion_event WHERE discussion_id = ${discussion.id}) sized) placed`;
  const { total = 0, ids = [] } = found ?? {};
  const rows = await db().discussionEvent.findMany({
    where: { id: { in: ids } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  return { items: await toTimelineEvents(db(), rows, actor), page, pageSize, total };
}

export async function readTimelineEvent(tx: Db, row: DiscussionEvent, actor: Actor): Promise<TimelineEvent> {
  const [event] = await toTimelineEvents(tx, [row], actor);
  return event as TimelineEvent;
}

export async function readComment(tx: Db, row: DiscussionEvent, actor: Actor): Promise<Comment> {
  return (await readTimelineEvent(tx, row, actor)) as Comment;
}

async function toTimelineEvents(tx: Db, rows: readonly DiscussionEvent[], actor: Actor): Promise<TimelineEvent[]> {
  const commentIds = rows.filter(({ type }) => type === "comment").map(({ id }) => id);
  const authors = await readAuthors(
    rows.map((row) => row.authorId),
    tx,
  );
  const reactions = await readReactions(tx, commentIds, actorId(actor));
  return rows.map((row) => toTimelineEvent(row, authors, reactions.get(row.id) ?? []));
}

function toTimelineEvent(row: DiscussionEvent, authors: Authors, reactions: ReactionCount[]): TimelineEvent {
  const { id, authorId, createdAt, isHidden, editCount, editedAt } = row;
  const base = { id, authorId, author: authors(authorId), createdAt };
  const data = row.data as Record<string, string | boolean>;
  switch (row.type) {
    case "comment":
      return {
        ...base,
        type: "comment",
        content: isHidden ? "" : (row.content ?? ""),
        isHidden,
        editCount,
        editedAt,
        reactions: isHidden ? [] : reactions,
      };
    case "status-change":
      return { ...base, type: "status-change", status: data.status as DiscussionStatus };
    case "title-change":
      return { ...base, type: "title-change", from: String(data.from), to: String(data.to) };
    case "pinning-change":
      return { ...base, type: "pinning-change", isPinned: data.pinned === true };
    case "locking-change":
      return { ...base, type: "locking-change", isLocked: data.locked === true };
    default:
      return { ...base, type: "commit", subject: String(data.subject), oid: String(data.oid) };
  }
}

async function readReactions(
  tx: Db,
  commentIds: readonly string[],
  userId: string | null,
): Promise<Map<string, ReactionCount[]>> {
  const byComment = new Map<string, ReactionCount[]>();
  if (commentIds.length === 0) return byComment;
  const rows = await tx.$queryRaw<({ commentId: string } & ReactionCount)[]>(Prisma.sql`
    SELECT comment_id AS "commentId", reaction, count(*)::int AS count, coalesce(bool_or(user_id = ${userId}), false) AS "isOwn"
      FROM comment_reaction WHERE comment_id = ANY (${commentIds}) GROUP BY comment_id, reaction ORDER BY min(created_at), reaction`);
  for (const { commentId, ...one } of rows) byComment.set(commentId, [...(byComment.get(commentId) ?? []), one]);
  return byComment;
}
