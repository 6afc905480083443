import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import type { Collection } from "./collection.ts";
import { findCollectionToChange } from "./find-collection.ts";

/** Deletes a collection; the repositories in it stay. @throws ServiceError `not_found`, `forbidden`, `insufficient_scope` */
export async function deleteCollection(actor: Actor, slug: string, from: RequestOrigin): Promise<Collection> {
  return db().$transaction(async (tx) => {
    const collection = await findCollectionToChange(tx, actor, slug);
    const { id, owner, title } = collection;
    await tx.collection.delete({ where: { id } });
    await recordAuditEvent(tx, {
      type: "collection.delete",
      actorId: actorId(actor),
      orgId: owner.kind === "organization" ? owner.id : null,
      clientId: clientIdOf(actor),
      data: { collectionId: id, title },
      from,
    });
    return collection;
  });
}
