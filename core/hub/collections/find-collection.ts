import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { type Collection, collectionResource, idInSlug } from "./collection.ts";
import { lockCollection, readCollections } from "./read-collections.ts";

/**
 * The collection of an address, `slug-id`, for somebody who may do `action` to it. The id alone decides, so that links outlive a new
 * title; the caller sees by `collectionName` what it is called now.
 * @throws ServiceError `not_found` for what is not there and what the actor may not see, alike (S136); `forbidden`,
 * `insufficient_scope` or `unauthorized` for what they may see but not do
 */
export async function findCollection(
  actor: Actor,
  slug: string,
  action: "collection.read" | "collection.write" = "collection.read",
  tx: Db = db(),
): Promise<Collection> {
  const id = idInSlug(slug);
  const [collection] = id ? await readCollections(Prisma.sql`c.id = ${id}`, { tx }) : [];
  if (!collection) throw notFound("Collection");
  await requirePermission(actor, action, collectionResource(collection), { what: "Collection", tx });
  return collection;
}

/** The same for whoever is about to change it: its row is locked until the transaction ends. */
export async function findCollectionToChange(tx: Db, actor: Actor, slug: string): Promise<Collection> {
  const { id } = await findCollection(actor, slug, "collection.write", tx);
  const collection = await lockCollection(tx, id);
  if (!collection) throw notFound("Collection");
  return collection;
}
