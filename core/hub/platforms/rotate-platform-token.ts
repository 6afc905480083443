import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { type Platform, platformTokenPrefix, TOKEN_OVERLAP_HOURS } from "./platform.ts";

/**
 * Gives a platform a new token, shown this once. The one before works for a day more, so that nothing is lost while it is replaced;
 * one that is still in that day ends now.
 * @throws ServiceError `not_found`, `forbidden`, `reauthentication_required`
 */
export async function rotatePlatformToken(
  actor: Actor,
  { id, name }: Pick<Platform, "id" | "name">,
  from: RequestOrigin,
): Promise<{ token: string; previousExpiresAt: Date }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  const token = newToken(platformTokenPrefix());
  const previousExpiresAt = new Date(Date.now() + TOKEN_OVERLAP_HOURS * 60 * 60 * 1000);
  await db().$transaction(async (tx) => {
    const changed = await tx.$executeRaw`
      UPDATE platform SET previous_token_hash = token_hash, previous_expires_at = ${previousExpiresAt},
             token_hash = ${hashToken(token)}, last4 = ${token.slice(-4)}
       WHERE id = ${id} AND revoked_at IS NULL`;
    if (changed === 0) throw notFound("Platform");
    await recordAuditEvent(tx, { type: "platform.rotate_token", actorId: actorId(actor), data: { platformId: id, name }, from });
  });
  return { token, previousExpiresAt };
}
