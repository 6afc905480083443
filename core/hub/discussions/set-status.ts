import type { Db } from "../../db.ts";
import type { Repo } from "../repos/repo.ts";
import type { DiscussionRow, DiscussionStatus } from "./discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** The pull request's last commit and its base before the merge; its diff is read from these from then on. */
export type MergedCommits = { headSha: string; baseSha: string | null };

/** Changes the status of a discussion whose row the caller locked, shows it in the timeline and records it. @returns the timeline event */
export async function setStatus(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
  status: DiscussionStatus,
  merged?: MergedCommits,
) {
  const changed = await tx.discussion.update({ where: { id: discussion.id }, data: { status, updatedAt: new Date() } });
  const [shown] = await insertEvents(tx, discussion.id, [
    { type: "status-change", authorId: actorId, data: { status, ...merged } },
  ]);
  await recordDiscussionEvent(tx, { repo, discussion: changed, actorId }, { scope: "discussion", action: "update" });
  return { row: changed, event: shown as NonNullable<typeof shown> };
}
