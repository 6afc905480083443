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

/** S137: each view of a discussion adds up the lengths of all events. */
const EVENTS_IN_DISCUSSION = 10_000;

/** Drops commits that no longer fit, so that a full pull request cannot block a push or a merge. */
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

/** Call this before a step that cannot be undone. */
export async function requireRoom(tx: Db, discussionId: string): Promise<void> {
  if ((await tx.discussionEvent.count({ where: { discussionId } })) >= EVENTS_IN_DISCUSSION) throw full();
}

const full = () =>
  conflict(
    "There are already 10,000 entries here, which is the maximum. Continue in a new discussion or pull request, or delete comments.",
  );

const isAllowedWhenFull = (event: NewTimelineEvent): boolean =>
  event.type !== "comment" &&
  (event.data.status === "closed" || event.data.status === "merged" || event.data.locked === true || event.data.pinned === false);
