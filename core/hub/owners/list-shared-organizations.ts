import type { Actor } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { db } from "../../db.ts";

export type SharedOrganization = { id: string; name: string; fullName: string };

const MAX = 100;

/**
 * The organizations of a user that the actor may know of: who is in one is shown to those who may see its members
 * (`organization.list_members`). By name.
 */
export async function listSharedOrganizations(actor: Actor, userId: string): Promise<SharedOrganization[]> {
  if (actor.kind !== "person" && actor.kind !== "token") return [];
  const own = await organizationsOf(actor, "organization.list_members");
  if (own.length === 0) return [];
  return db().organization.findMany({
    where: { id: { in: own }, memberships: { some: { userId } } },
    orderBy: { name: "asc" },
    take: MAX,
    select: { id: true, name: true, fullName: true },
  });
}
