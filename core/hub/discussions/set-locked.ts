import { type Actor, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { changeDiscussion, requireModerating } from "./change-discussion.ts";
import type { DiscussionName } from "./find-discussion.ts";
import { insertEvents } from "./insert-events.ts";
import { recordDiscussionEvent } from "./record-discussion-event.ts";

/** Locks a discussion for all but moderators, or unlocks it. @throws ServiceError `not_found`, `unauthorized`, `insufficient_scope`, `forbidden` */
export async function setLocked(actor: Actor, name: DiscussionName, isLocked: boolean, from: RequestOrigin): Promise<void> {
  await changeDiscussion(actor, name, async (to) => {
    const { tx, actorId, repo, discussion: before } = to;
    await requireModerating(to);
    if (before.isLocked === isLocked) return;
    const discussion = await tx.discussion.update({ where: { id: before.id }, data: { isLocked } });
    await insertEvents(tx, before.id, [{ type: "locking-change", authorId: actorId, data: { locked: isLocked } }]);
    await recordDiscussionEvent(tx, { repo, discussion, actorId }, { scope: "discussion", action: "update" });
    await recordAuditEvent(tx, {
      type: isLocked ? "discussion.lock" : "discussion.unlock",
      actorId,
      clientId: clientIdOf(actor),
      orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
      data: { repo: repo.fullName, type: repo.type, num: before.num },
      from,
    });
  });
}
