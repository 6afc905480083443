import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { type Collection, collectionResource, idInSlug, type Theme } from "./collection.ts";

/** @throws ServiceError `not_found` if the collection does not exist or the actor may not see it (S136) */
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

export async function findCollectionToChange(tx: Db, actor: Actor, slug: string): Promise<Collection> {
  const { id } = await findCollection(actor, slug, "collection.write", tx);
  const collection = await lockCollection(tx, id);
  if (!collection) throw notFound("Collection");
  return collection;
}

type Row = Omit<Collection, "owner"> & {
  ownerId: string;
  ownerKind: "user" | "organization";
  ownerHandle: string;
  ownerFullName: string;
};

const COLUMNS = Prisma.sql`c.id, c.owner_id AS "ownerId", c.owner_kind AS "ownerKind", coalesce(u.username, o.name) AS "ownerHandle",
  coalesce(u.full_name, o.full_name) AS "ownerFullName", c.title, c.slug, c.description, c.theme, c.is_private AS "isPrivate", c.position,
  c.created_by_id AS "createdById", c.created_by_client_id AS "createdByClientId", c.created_at AS "createdAt",
  c.updated_at AS "updatedAt"`;

const ALL = Prisma.sql`collection c`;

const sourceOf = (from: Prisma.Sql): Prisma.Sql => Prisma.sql`${from}
  LEFT JOIN "user" u ON c.owner_kind = 'user' AND u.id = c.owner_id
  LEFT JOIN organization o ON c.owner_kind = 'organization' AND o.id = c.owner_id`;

/** Omits collections of disabled users. Checks no permissions. */
export async function readCollections(
  where: Prisma.Sql,
  { tx = db(), tail = Prisma.empty, from = ALL }: { tx?: Db; tail?: Prisma.Sql; from?: Prisma.Sql } = {},
): Promise<Collection[]> {
  const rows = await tx.$queryRaw<
    Row[]
  >`SELECT ${COLUMNS} FROM ${sourceOf(from)} WHERE u.disabled_at IS NULL AND (${where}) ${tail}`;
  return rows.map(({ ownerId, ownerKind, ownerHandle, ownerFullName, ...row }) => ({
    ...row,
    theme: row.theme as Theme,
    owner: { kind: ownerKind, id: ownerId, handle: ownerHandle, fullName: ownerFullName },
  }));
}

export async function countCollections(where: Prisma.Sql, from = ALL, tx: Db = db()): Promise<number> {
  const [row] = await tx.$queryRaw<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM ${sourceOf(from)} WHERE u.disabled_at IS NULL AND (${where})`;
  return row?.count ?? 0;
}

export async function lockCollection(tx: Db, id: string): Promise<Collection | undefined> {
  const [collection] = await readCollections(Prisma.sql`c.id = ${id}`, { tx, tail: Prisma.sql`FOR UPDATE OF c` });
  return collection;
}
