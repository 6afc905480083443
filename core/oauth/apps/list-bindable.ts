import type { Person } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { db } from "../../db.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";

/** Most users administer few; those who administer more find the app's page of each organization. */
const ORGANIZATIONS_MAX = 100;

/** The organizations to which a user may bind an app: its owner, or those that they administer. None if it is already bound. */
export async function listBindable(
  person: Person,
  {
    ownerUserId,
    ownerOrgId,
    boundOrgId,
    isFirstParty,
  }: Pick<OAuthApp, "ownerUserId" | "ownerOrgId" | "boundOrgId" | "isFirstParty">,
): Promise<{ id: string; name: string; fullName: string }[]> {
  if (boundOrgId || isFirstParty || (ownerUserId !== person.userId && !ownerOrgId)) return [];
  const administered = await organizationsOf(person, "oauth_app.manage_security");
  return db().organization.findMany({
    where: { id: { in: administered.filter((id) => !ownerOrgId || id === ownerOrgId) } },
    select: { id: true, name: true, fullName: true },
    orderBy: { name: "asc" },
    take: ORGANIZATIONS_MAX,
  });
}
