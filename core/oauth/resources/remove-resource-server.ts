import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { notifyAppChange } from "../apps/notify-app-change.ts";
import { plainIdentifier } from "./resource-servers.ts";

/**
 * Takes a resource server out, with its credentials and all tokens that were made for it: registering it again revives none, and
 * asks people again.
 * @throws ServiceError `not_found`, `forbidden`
 */
export async function removeResourceServer(actor: Actor, address: string, from: RequestOrigin): Promise<void> {
  const identifier = plainIdentifier(address);
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const found = await tx.oAuthResourceServer.findUnique({ where: { identifier }, include: { app: true } });
    if (!found) throw notFound("Resource server");
    await tx.oAuthApp.delete({ where: { id: found.appId } });
    await tx.$executeRaw`
      UPDATE oauth_consent SET resources = array_remove(resources, ${identifier}) WHERE ${identifier} = ANY (resources)`;
    // Codes and refresh tokens remember what they are for as it was asked, one name or several.
    await tx.$executeRaw`
      DELETE FROM oauth_artifact WHERE payload ->> 'aud' = ${identifier}
        OR payload -> 'resource' ?| ARRAY[${identifier}, ${`${identifier}/`}]`;
    await recordAuditEvent(tx, {
      type: "resource_server.remove",
      actorId: actorId(actor),
      clientId: found.app.clientId,
      data: { identifier, name: found.name },
      from,
    });
    await notifyAppChange(tx, found.app.clientId);
  });
}
