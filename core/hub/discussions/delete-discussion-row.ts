import type { Db } from "../../db.ts";
import type { Repo } from "../repos/repo.ts";
import type { DiscussionRow } from "./discussion.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** Deletes a discussion with everything in it, and records that. Its number is not reused. */
export async function deleteDiscussionRow(
  tx: Db,
  { repo, discussion, actorId }: { repo: Repo; discussion: DiscussionRow; actorId: string | null },
): Promise<void> {
  const { count } = await tx.discussion.deleteMany({ where: { id: discussion.id } });
  if (count > 0) await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "delete" });
}
