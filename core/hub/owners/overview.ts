import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { db } from "../../db.ts";

/** Counts only repositories that the actor may see (S136). */
export async function countOwnedRepos(actor: Actor, ownerId: string): Promise<Record<RepoType, number>> {
  const readable = readableWhere("r", await readableOwners(actor, "repo.read"));
  const rows = await db().$queryRaw<{ type: RepoType; count: number }[]>`
    SELECT r.type, count(*)::int AS count FROM repo r WHERE r.owner_id = ${ownerId} AND r.proposed_to_id IS NULL AND ${readable} GROUP BY r.type`;
  return { model: 0, dataset: 0, space: 0, ...Object.fromEntries(rows.map(({ type, count }) => [type, count])) };
}

type SharedOrganization = { id: string; name: string; fullName: string };

const ORGANIZATIONS_MAX = 100;

export async function listSharedOrganizations(actor: Actor, userId: string): Promise<SharedOrganization[]> {
  if (actor.kind !== "person" && actor.kind !== "token") return [];
  const own = await organizationsOf(actor, "organization.list_members");
  if (own.length === 0) return [];
  return db().organization.findMany({
    where: { id: { in: own }, memberships: { some: { userId } } },
    orderBy: { name: "asc" },
    take: ORGANIZATIONS_MAX,
    select: { id: true, name: true, fullName: true },
  });
}
