import type { Actor } from "../../access/actor.ts";
import { changeDiscussion, requireModerating } from "./change-discussion.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** Pins a discussion before all others, or unpins it. @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden` */
export async function setPinned(actor: Actor, name: DiscussionName, isPinned: boolean): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireModerating(to);
    if (before.isPinned === isPinned) return;
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { isPinned } });
    await insertEvents(tx, before.id, [{ type: "pinning-change", authorId: actorId, data: { pinned: isPinned } }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
  });
}
