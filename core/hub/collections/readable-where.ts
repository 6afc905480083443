import type { ReadableOwners } from "../../access/readable-owners.ts";
import { Prisma } from "../../generated/prisma/client.ts";

/** What an actor may read of a table with `is_private`, `owner_id` and `created_by_client_id`, as a condition on its alias. */
export function readableWhere(alias: "c" | "r", { isAll, ownerIds, madeBy, repoId }: ReadableOwners): Prisma.Sql {
  if (isAll) return Prisma.sql`true`;
  const column = (name: string) => Prisma.raw(`${alias}.${name}`);
  const made = madeBy
    ? Prisma.sql`OR (${column("created_by_client_id")} = ${madeBy.clientId} AND ${column("owner_id")} = ANY(${madeBy.ownerIds}))`
    : Prisma.empty;
  const trusted = alias === "r" && repoId !== null ? Prisma.sql`OR ${column("id")} = ${repoId}` : Prisma.empty;
  return Prisma.sql`(NOT ${column("is_private")} OR ${column("owner_id")} = ANY(${ownerIds}) ${made} ${trusted})`;
}
