import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { type Collection, slugOf } from "./collection.ts";
import { lockCollectionsOf } from "./create-collection.ts";
import { findCollection, findCollectionToChange } from "./find-collection.ts";
import { parseDescription, parsePosition, parseTheme, parseTitle } from "./parse-collection.ts";
import { lockCollection, readCollections } from "./read-collections.ts";

/** Absent properties stay unchanged. */
export type CollectionChanges = {
  title?: string;
  description?: string | null;
  theme?: string;
  isPrivate?: boolean;
  /** Its new position among the owner's collections, from 0. */
  position?: number;
};

/**
 * Changes the properties of a collection. A new title changes its URL; the old one redirects.
 * @throws ServiceError `invalid_request`, `conflict` (the owner has another collection of this title), `not_found`, `forbidden`,
 * `insufficient_scope`
 */
export async function updateCollection(
  actor: Actor,
  slug: string,
  changes: CollectionChanges,
  from: RequestOrigin,
): Promise<Collection> {
  const title = changes.title === undefined ? undefined : parseTitle(changes.title);
  const data = {
    ...(title !== undefined && { title, slug: slugOf(title) }),
    ...(changes.description !== undefined && { description: parseDescription(changes.description) }),
    ...(changes.theme !== undefined && { theme: parseTheme(changes.theme) }),
    ...(changes.isPrivate !== undefined && { isPrivate: changes.isPrivate }),
  };
  const position = changes.position === undefined ? undefined : parsePosition(changes.position);
  const { owner } = await findCollection(actor, slug, "collection.write");
  return db().$transaction(async (tx) => {
    if (title !== undefined || position !== undefined) await lockCollectionsOf(tx, owner.id);
    const before = await findCollectionToChange(tx, actor, slug);
    if (title !== undefined) await requireFreeTitle(tx, before, title);
    if (Object.keys(data).length > 0) {
      await tx.collection.update({ where: { id: before.id }, data: { ...data, updatedAt: new Date() } });
    }
    if (position !== undefined) await moveAmongOwners(tx, before, position);
    if (data.isPrivate !== undefined && data.isPrivate !== before.isPrivate) {
      await recordAuditEvent(tx, {
        type: "collection.update",
        actorId: actorId(actor),
        orgId: owner.kind === "organization" ? owner.id : null,
        clientId: clientIdOf(actor),
        data: { collectionId: before.id, title: title ?? before.title, isPrivate: data.isPrivate },
        from,
      });
    }
    return (await lockCollection(tx, before.id)) as Collection;
  });
}

async function requireFreeTitle(tx: Db, { id, owner }: Collection, title: string): Promise<void> {
  const [same] = await readCollections(
    Prisma.sql`c.owner_id = ${owner.id} AND c.id <> ${id} AND lower(c.title) = lower(${title})`,
    { tx },
  );
  if (!same) return;
  throw new ServiceError("conflict", `${owner.handle} has another collection of this title.`, { field: "title" });
}

/** Renumbers all collections of an owner, in one statement. */
async function moveAmongOwners(tx: Db, { id, owner }: Collection, position: number): Promise<void> {
  await tx.$executeRaw`
    WITH others AS (
      SELECT id, row_number() OVER (ORDER BY position, updated_at DESC, id) - 1 AS place
        FROM collection WHERE owner_id = ${owner.id} AND id <> ${id}
    ), placed AS (
      SELECT id, place + CASE WHEN place >= ${position} THEN 1 ELSE 0 END AS place FROM others
      UNION ALL SELECT ${id}, least(${position}::int, (SELECT count(*) FROM others))
    )
    UPDATE collection c SET position = placed.place FROM placed WHERE c.id = placed.id AND c.position <> placed.place`;
}
