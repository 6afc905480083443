import type { Actor } from "../../access/actor.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { CollectionItem } from "./collection.ts";
import { findCollectionToChange } from "./find-collection.ts";
import { parseNote, parsePosition } from "./parse-collection.ts";
import { readItemsOf } from "./read-items.ts";

/** Absent properties stay unchanged. */
export type ItemChanges = {
  note?: string | null;
  /** Among the items that the actor sees, from 0. */
  position?: number;
};

/** Changes the note or the position of an item. @throws ServiceError `not_found`, `invalid_request`, `forbidden`, `insufficient_scope` */
export async function updateItem(actor: Actor, slug: string, itemId: string, changes: ItemChanges): Promise<CollectionItem> {
  const note = changes.note === undefined ? undefined : parseNote(changes.note);
  const position = changes.position === undefined ? undefined : parsePosition(changes.position);
  return db().$transaction(async (tx) => {
    const { id: collectionId } = await findCollectionToChange(tx, actor, slug);
    const seen = await readItemsOf(actor, collectionId, tx);
    if (!seen.some(({ id }) => id === itemId)) throw notFound("Item");
    if (note !== undefined) await tx.collectionItem.update({ where: { id: itemId }, data: { note } });
    if (position !== undefined) await moveItem(tx, { collectionId, itemId }, seen, position);
    await tx.collection.update({ where: { id: collectionId }, data: { updatedAt: new Date() } });
    return (await readItemsOf(actor, collectionId, tx)).find(({ id }) => id === itemId) as CollectionItem;
  });
}

/**
 * Moves an item right behind the one that the actor sees before its new position. Items that the actor does not see stay next to their
 * neighbours.
 */
async function moveItem(
  tx: Db,
  { collectionId, itemId }: { collectionId: string; itemId: string },
  seen: CollectionItem[],
  position: number,
): Promise<void> {
  const all = await tx.collectionItem.findMany({
    where: { collectionId },
    orderBy: [{ position: "asc" }, { id: "asc" }],
    select: { id: true },
  });
  const others = all.map(({ id }) => id).filter((id) => id !== itemId);
  const before = seen
    .filter(({ id }) => id !== itemId)
    .slice(0, position)
    .at(-1);
  others.splice(before ? others.indexOf(before.id) + 1 : 0, 0, itemId);
  await tx.$executeRaw`
    UPDATE collection_item i SET position = o.place - 1
      FROM unnest(${others}::text[]) WITH ORDINALITY AS o(id, place)
     WHERE i.id = o.id AND i.position <> o.place - 1`;
}
