import type { Actor } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import type { CollectionItem } from "./collection.ts";
import { findCollectionToChange } from "./find-collection.ts";
import { readItemsOf } from "./read-items.ts";

/** Removes an item from a collection; its repository stays. @throws ServiceError `not_found`, `forbidden`, `insufficient_scope` */
export async function removeItem(actor: Actor, slug: string, itemId: string): Promise<CollectionItem> {
  return db().$transaction(async (tx) => {
    const { id: collectionId } = await findCollectionToChange(tx, actor, slug);
    const item = (await readItemsOf(actor, collectionId, tx)).find(({ id }) => id === itemId);
    if (!item) throw notFound("Item");
    await tx.collectionItem.delete({ where: { id: itemId } });
    await tx.collection.update({ where: { id: collectionId }, data: { updatedAt: new Date() } });
    return item;
  });
}
