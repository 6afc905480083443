import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { Platform } from "./platform.ts";

/**
 * Ends a platform's tokens at once. What it told of its repositories goes too: nobody would say any more who may see them. The events
 * that it has sent stay.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function revokePlatform(
  actor: Actor,
  { id, name }: Pick<Platform, "id" | "name">,
  from: RequestOrigin,
): Promise<{ removedRepos: number }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  return db().$transaction(async (tx) => {
    const { count } = await tx.platform.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
    if (count === 0) throw notFound("Platform");
    const { count: removedRepos } = await tx.repo.deleteMany({ where: { platformId: id } });
    await recordAuditEvent(tx, {
      type: "platform.revoke",
      actorId: actorId(actor),
      data: { platformId: id, name, removedRepos },
      from,
    });
    return { removedRepos };
  });
}
