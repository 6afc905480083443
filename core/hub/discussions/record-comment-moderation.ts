import { clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { ToChange } from "./change-discussion.ts";

/** Records in the audit log that somebody removed another user's comment; removing one's own is not recorded. */
export async function recordCommentModeration(
  { tx, actor, actorId, repo, discussion }: ToChange,
  type: "discussion.hide_comment" | "discussion.delete_comment",
  comment: { id: string; authorId: string | null },
  from: RequestOrigin,
): Promise<void> {
  if (comment.authorId === actorId) return;
  await recordAuditEvent(tx, {
    type,
    actorId,
    clientId: clientIdOf(actor),
    orgId: repo.owner.kind === "organization" ? repo.owner.id : null,
    subjectId: comment.authorId,
    data: { repo: repo.fullName, type: repo.type, num: discussion.num, comment: comment.id },
    from,
  });
}
