import type { Db } from "../../db.ts";
import type { DiscussionEvent, Prisma } from "../../generated/prisma/client.ts";
import { newOrderedId } from "../../ids.ts";

export type NewTimelineEvent = { authorId: string | null } & (
  | { type: "comment"; content: string }
  | {
      type: "status-change" | "title-change" | "commit" | "pinning-change" | "locking-change";
      data: Prisma.InputJsonObject;
    }
);

/**
 * Adds to what happened in a discussion, whose row the caller has locked. Each gets a time of its own, a millisecond after the one
 * before: they are read in that order.
 */
export async function insertEvents(
  tx: Db,
  discussionId: string,
  events: readonly NewTimelineEvent[],
): Promise<DiscussionEvent[]> {
  if (events.length === 0) return [];
  const latest = await tx.discussionEvent.findFirst({
    where: { discussionId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    select: { createdAt: true },
  });
  const start = Math.max(Date.now(), (latest?.createdAt.getTime() ?? 0) + 1);
  return tx.discussionEvent.createManyAndReturn({
    data: events.map((event, index) => ({
      id: newOrderedId(),
      discussionId,
      type: event.type,
      authorId: event.authorId,
      createdAt: new Date(start + index),
      ...(event.type === "comment" ? { content: event.content } : { data: event.data }),
    })),
  });
}
