import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import type { RegisteredResource } from "./resource-servers.ts";

/** Every resource server that the operator has registered, with the client id by which it introspects. @throws ServiceError `forbidden` */
export async function listResourceServers(actor: Actor): Promise<(RegisteredResource & { clientId: string })[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().oAuthResourceServer.findMany({
    include: { app: { select: { clientId: true } } },
    orderBy: [{ name: "asc" }, { identifier: "asc" }],
  });
  return rows.map(({ identifier, name, scopes, app }) => ({ identifier, name, scopes, clientId: app.clientId }));
}
