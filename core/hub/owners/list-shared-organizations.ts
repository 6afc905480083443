import { type Actor, actorId } from "../../access/actor.ts";
import { db } from "../../db.ts";

export type SharedOrganization = { id: string; name: string; fullName: string };

const MAX = 100;

/**
 * The organizations of a user that the actor may know of: who is in one is shown to its members, and to a token only where the
 * organization is granted to it (as `organization.read_membership` has it). By name.
 */
export async function listSharedOrganizations(actor: Actor, userId: string): Promise<SharedOrganization[]> {
  const asker = actorId(actor);
  if (asker === null) return [];
  const granted = actor.kind === "token" && actor.orgIds !== "all" ? { id: { in: [...actor.orgIds] } } : {};
  return db().organization.findMany({
    where: { AND: [granted, { memberships: { some: { userId } } }, { memberships: { some: { userId: asker } } }] },
    orderBy: { name: "asc" },
    take: MAX,
    select: { id: true, name: true, fullName: true },
  });
}
