import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { findOwner, lockOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { ownerColumns } from "../repos/repo.ts";
import {
  COLLECTIONS_MAX_PER_OWNER,
  type Collection,
  parseDescription,
  parsePosition,
  parseTheme,
  parseTitle,
  slugOf,
  themes,
} from "./collection.ts";
import { countChange } from "./count-change.ts";
import { findCollection, findCollectionToChange, lockCollection, readCollections } from "./find-collection.ts";

export type NewCollection = {
  owner: string;
  title: string;
  description?: string | null;
  theme?: string;
  isPrivate?: boolean;
};

/** Returns an existing collection with this title, so that a program can run twice. */
export async function createCollection(
  actor: Actor,
  input: NewCollection,
  from: RequestOrigin,
): Promise<{ outcome: "created" | "exists"; collection: Collection }> {
  const title = parseTitle(input.title);
  const description = parseDescription(input.description);
  const theme = parseTheme(input.theme ?? themes[1]);
  const owner = await findOwner(input.owner);
  if (!owner) throw notFound("Owner");
  const ask = (tx: Db) => requirePermission(actor, "collection.create", ownerColumns(owner), { what: "Owner", tx });
  await ask(db());
  return inTransaction(async (tx) => {
    if (!(await lockOwner(tx, owner))) throw notFound("Owner");
    await lockCollectionsOf(tx, owner.id);
    await ask(tx);
    const [same] = await readCollections(Prisma.sql`c.owner_id = ${owner.id} AND lower(c.title) = lower(${title})`, { tx });
    if (same) return { outcome: "exists", collection: same };
    if ((await tx.collection.count({ where: { ownerId: owner.id } })) >= COLLECTIONS_MAX_PER_OWNER) {
      throw conflict(
        `${owner.handle} already has ${COLLECTIONS_MAX_PER_OWNER.toLocaleString("en")} collections. Delete one first.`,
      );
    }
    const id = newId();
    await tx.collection.create({
      data: {
        id,
        ownerId: owner.id,
        ownerKind: owner.kind,
        slug: slugOf(title),
        title,
        description,
        theme,
        isPrivate: input.isPrivate ?? false,
        createdById: actorId(actor),
        createdByClientId: clientIdOf(actor),
      },
    });
    await recordAuditEvent(tx, {
      type: "collection.create",
      actor,
      owner,
      data: { collectionId: id, title, isPrivate: input.isPrivate ?? false },
      from,
    });
    return { outcome: "created", collection: (await lockCollection(tx, id)) as Collection };
  });
}

async function lockCollectionsOf(tx: Db, ownerId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`collections ${ownerId}`}, 0))`;
}

type CollectionChanges = {
  title?: string;
  description?: string | null;
  theme?: string;
  isPrivate?: boolean;
  position?: number;
};

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
  const { owner, isPrivate } = await findCollection(actor, slug, "collection.write");
  // Making a collection private is not counted (S144), because making it public again is counted.
  const isRemoval = !isPrivate && changes.isPrivate === true;
  if (!isRemoval) await countChange(actor);
  return inTransaction(async (tx) => {
    if (title !== undefined || position !== undefined) await lockCollectionsOf(tx, owner.id);
    const before = await findCollectionToChange(tx, actor, slug);
    if (title !== undefined) await requireFreeTitle(tx, before, title);
    if (Object.keys(data).length > 0) {
      await tx.collection.update({ where: { id: before.id }, data: { ...data, updatedAt: new Date() } });
    }
    if (position !== undefined) await moveAmongCollections(tx, before, position);
    if (data.isPrivate !== undefined && data.isPrivate !== before.isPrivate) {
      await recordAuditEvent(tx, {
        type: "collection.update",
        actor,
        owner,
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
  throw conflict(`${owner.handle} already has a collection with this title. Choose another title.`, "title");
}

async function moveAmongCollections(tx: Db, { id, owner }: Collection, position: number): Promise<void> {
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

export async function deleteCollection(actor: Actor, slug: string, from: RequestOrigin): Promise<Collection> {
  return inTransaction(async (tx) => {
    const collection = await findCollectionToChange(tx, actor, slug);
    const { id, owner, title } = collection;
    await tx.collection.delete({ where: { id } });
    await recordAuditEvent(tx, { type: "collection.delete", actor, owner, data: { collectionId: id, title }, from });
    return collection;
  });
}
