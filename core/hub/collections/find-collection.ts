import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { type Collection, collectionResource, idInSlug } from "./collection.ts";
import { lockCollection, readCollections } from "./read-collections.ts";

/**
 * Finds a collection by its `slug-id`, for an actor who may do `action` to it. Only the id decides, so that links survive a new title;
 * the caller gets the current name from `collectionName`.
 * @throws ServiceError `not_found` alike for what does not exist and for what the actor may not see (S136); `forbidden`,
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

/** The same before a change: locks its row until the transaction ends. */
export async function findCollectionToChange(tx: Db, actor: Actor, slug: string): Promise<Collection> {
  const { id } = await findCollection(actor, slug, "collection.write", tx);
  const collection = await lockCollection(tx, id);
  if (!collection) throw notFound("Collection");
  return collection;
}
