import type { Db } from "../../db.ts";
import { conflict } from "../../errors.ts";
import type { DiscussionEvent, Prisma } from "../../generated/prisma/client.ts";
import { newOrderedId } from "../../ids.ts";

type NewTimelineEvent = { authorId: string | null } & (
  | { type: "comment"; content: string }
  | {
      type: "status-change" | "title-change" | "commit" | "pinning-change" | "locking-change";
      data: Prisma.InputJsonObject;
    }
);

/** Each view of a discussion, which anybody may request, adds up the lengths of all its events (S137): 10,000 take 12 ms. */
const EVENTS_IN_DISCUSSION = 10_000;

/**
 * Adds events to a discussion whose row the caller has locked. Each gets its own time, a millisecond after the previous one, because they
 * are read in that order. In a discussion that is nearly full, only as many of a push's latest commits are shown as there is room for. So
 * nobody can make a push or a merge fail by filling a pull request.
 * @throws ServiceError `conflict` when it is full
 */
export async function insertEvents(
  tx: Db,
  discussionId: string,
  events: readonly NewTimelineEvent[],
): Promise<DiscussionEvent[]> {
  if (events.length === 0) return [];
  const { _count: before, _max: latest } = await tx.discussionEvent.aggregate({
    where: { discussionId },
    _count: true,
    _max: { createdAt: true },
  });
  const overflow = before + events.length - EVENTS_IN_DISCUSSION;
  if (overflow > 0 && events.some((event) => event.type !== "commit" && !isAllowedWhenFull(event))) throw full();
  const shown = events.filter((event, index) => index >= overflow || isAllowedWhenFull(event));
  const start = Math.max(Date.now(), (latest.createdAt?.getTime() ?? 0) + 1);
  return tx.discussionEvent.createManyAndReturn({
    data: shown.map((event, index) => ({
      id: newOrderedId(),
      discussionId,
      type: event.type,
      authorId: event.authorId,
      createdAt: new Date(start + index),
      ...(event.type === "comment" ? { content: event.content } : { data: event.data }),
    })),
  });
}

/** For use before a step that cannot be undone. @throws ServiceError `conflict` when the discussion is full */
export async function requireRoom(tx: Db, discussionId: string): Promise<void> {
  if ((await tx.discussionEvent.count({ where: { discussionId } })) >= EVENTS_IN_DISCUSSION) throw full();
}

const full = () =>
  conflict(
    "There are already 10,000 entries here, which is the maximum. Continue in a new discussion or pull request, or delete comments.",
  );

/** Events that are added even to a full discussion. Each can happen only once there, because undoing it is refused. */
const isAllowedWhenFull = (event: NewTimelineEvent): boolean =>
  event.type !== "comment" &&
  (event.data.status === "closed" || event.data.status === "merged" || event.data.locked === true || event.data.pinned === false);
