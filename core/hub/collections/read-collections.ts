import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import type { Collection, Theme } from "./collection.ts";

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

/** From `collection c` with its owner; collections of disabled users are left out. */
const SOURCE = Prisma.sql`collection c
  LEFT JOIN "user" u ON c.owner_kind = 'user' AND u.id = c.owner_id
  LEFT JOIN organization o ON c.owner_kind = 'organization' AND o.id = c.owner_id`;

/** Reads collections with their owners' names: only this function knows the columns. It checks no permissions. */
export async function readCollections(
  where: Prisma.Sql,
  { tx = db(), tail = Prisma.empty }: { tx?: Db; tail?: Prisma.Sql } = {},
): Promise<Collection[]> {
  const rows = await tx.$queryRaw<Row[]>`SELECT ${COLUMNS} FROM ${SOURCE} WHERE u.disabled_at IS NULL AND (${where}) ${tail}`;
  return rows.map(({ ownerId, ownerKind, ownerHandle, ownerFullName, ...row }) => ({
    ...row,
    theme: row.theme as Theme,
    owner: { kind: ownerKind, id: ownerId, handle: ownerHandle, fullName: ownerFullName },
  }));
}

export async function countCollections(where: Prisma.Sql, tx: Db = db()): Promise<number> {
  const [row] = await tx.$queryRaw<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM ${SOURCE} WHERE u.disabled_at IS NULL AND (${where})`;
  return row?.count ?? 0;
}

/** One collection by id, with its row locked until the transaction ends, which serializes changes to it and its items. */
export async function lockCollection(tx: Db, id: string): Promise<Collection | undefined> {
  const [collection] = await readCollections(Prisma.sql`c.id = ${id}`, { tx, tail: Prisma.sql`FOR UPDATE OF c` });
  return collection;
}
