import type { Actor } from "../../access/actor.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readRepos } from "../repos/read-repos.ts";
import { type CollectionItem, ITEMS_MAX } from "./collection.ts";

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

/**
 * The items of collections, in order, with only the repositories that the actor may see: others leave no gap and are not counted
 * (S136). Two queries, however many collections there are.
 * @param most per collection
 */
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

/** All items of one collection that the actor may see. */
export async function readItemsOf(actor: Actor, collectionId: string, tx: Db = db()): Promise<CollectionItem[]> {
  return (await readItems(actor, [collectionId], { tx })).get(collectionId)?.items ?? [];
}
