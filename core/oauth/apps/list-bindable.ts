import type { Person } from "../../access/actor.ts";
import { organizationsOf } from "../../access/organizations-of.ts";
import { db } from "../../db.ts";
import type { OAuthApp } from "../../generated/prisma/client.ts";

/** A person administers few; whoever administers more finds the app's page of each of them. */
const ORGANIZATIONS_MAX = 100;

/** The organizations that somebody may bind an app to: its owner, or those that they administer. None for one that is bound. */
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
