import type { Actor } from "../../access/actor.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { readRepos } from "../repos/read-repos.ts";
import { type Collection, type CollectionItem, ITEMS_MAX, parseNote, parsePosition } from "./collection.ts";
import { countChange } from "./count-change.ts";
import { findCollectionToChange } from "./find-collection.ts";

type NewItem = { repo: RepoName; note?: string | null };

export async function addItem(actor: Actor, slug: string, { repo: name, note }: NewItem): Promise<Collection> {
  const text = parseNote(note);
  await countChange(actor);
  return inTransaction(async (tx) => {
    const collection = await findCollectionToChange(tx, actor, slug);
    const repo = await findRepo(actor, name, "repo.read", tx);
    const { _count: count, _max: last } = await tx.collectionItem.aggregate({
      where: { collectionId: collection.id },
      _count: true,
      _max: { position: true },
    });
    if (await tx.collectionItem.findFirst({ where: { collectionId: collection.id, repoId: repo.id }, select: { id: true } })) {
      throw conflict(`${repo.fullName} is already in this collection.`, "item");
    }
    if (count >= ITEMS_MAX) throw conflict(`A collection can have at most ${ITEMS_MAX} repositories.`);
    await tx.collectionItem.create({
      data: { id: newId(), collectionId: collection.id, repoId: repo.id, position: (last.position ?? -1) + 1, note: text },
    });
    const updatedAt = new Date();
    await tx.collection.update({ where: { id: collection.id }, data: { updatedAt } });
    return { ...collection, updatedAt };
  });
}

type ItemChanges = {
  note?: string | null;
  /** From 0, among the items that the actor may see. */
  position?: number;
};

export async function updateItem(actor: Actor, slug: string, itemId: string, changes: ItemChanges): Promise<CollectionItem> {
  const note = changes.note === undefined ? undefined : parseNote(changes.note);
  const position = changes.position === undefined ? undefined : parsePosition(changes.position);
  await countChange(actor);
  return inTransaction(async (tx) => {
    const { id: collectionId } = await findCollectionToChange(tx, actor, slug);
    const seen = await readItemsOf(actor, collectionId, tx);
    if (!seen.some(({ id }) => id === itemId)) throw notFound("Item");
    if (note !== undefined) await tx.collectionItem.update({ where: { id: itemId }, data: { note } });
    if (position !== undefined) await moveItem(tx, { collectionId, itemId }, seen, position);
    await tx.collection.update({ where: { id: collectionId }, data: { updatedAt: new Date() } });
    return (await readItemsOf(actor, collectionId, tx)).find(({ id }) => id === itemId) as CollectionItem;
  });
}

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

export async function removeItem(actor: Actor, slug: string, itemId: string): Promise<CollectionItem> {
  return inTransaction(async (tx) => {
    const { id: collectionId } = await findCollectionToChange(tx, actor, slug);
    const item = (await readItemsOf(actor, collectionId, tx)).find(({ id }) => id === itemId);
    if (!item) throw notFound("Item");
    await tx.collectionItem.delete({ where: { id: itemId } });
    await tx.collection.update({ where: { id: collectionId }, data: { updatedAt: new Date() } });
    return item;
  });
}

export type Items = { items: CollectionItem[]; total: number };

type Row = {
  id: string;
  collectionId: string;
  repoId: string;
  note: string | null;
  addedAt: Date;
  position: number;
  total: number;
};

/** Hidden repositories leave no gap and are not counted (S136). */
export async function readItems(
  actor: Actor,
  collectionIds: readonly string[],
  { most = ITEMS_MAX, tx = db() }: { most?: number; tx?: Db } = {},
): Promise<Map<string, Items>> {
  const found = new Map<string, Items>(collectionIds.map((id) => [id, { items: [], total: 0 }]));
  if (collectionIds.length === 0) return found;
  const readable = readableWhere("r", await readableOwners(actor, "repo.read", tx));
  const rows = await tx.$queryRaw<Row[]>`
    SELECT * FROM (
      SELECT i.id, i.collection_id AS "collectionId", i.repo_id AS "repoId", i.note, i.added_at AS "addedAt",
             (row_number() OVER w - 1)::int AS position, (count(*) OVER (PARTITION BY i.collection_id))::int AS total
        FROM collection_item i JOIN repo r ON r.id = i.repo_id
        LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
       WHERE i.collection_id = ANY(${collectionIds}) AND u.disabled_at IS NULL AND ${readable}
      WINDOW w AS (PARTITION BY i.collection_id ORDER BY i.position, i.id)
    ) seen WHERE position < ${most} ORDER BY position`;
  const repos = await readRepos(Prisma.sql`r.id = ANY(${[...new Set(rows.map(({ repoId }) => repoId))]})`, {
    tx,
    isWithoutCards: true,
  });
  const repoOf = new Map(repos.map((repo) => [repo.id, repo]));
  for (const { collectionId, repoId, total, ...item } of rows) {
    const repo = repoOf.get(repoId);
    const of = found.get(collectionId);
    if (!repo || !of) continue;
    of.total = total;
    of.items.push({ ...item, repo });
  }
  return found;
}

export async function readItemsOf(actor: Actor, collectionId: string, tx: Db = db()): Promise<CollectionItem[]> {
  return (await readItems(actor, [collectionId], { tx })).get(collectionId)?.items ?? [];
}
