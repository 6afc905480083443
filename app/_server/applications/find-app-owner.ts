import { notFound } from "next/navigation";
import type { Person } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import type { Organization } from "#core/accounts/organizations/find-organization.ts";
import { requireOrganizationPage } from "../organization-page.ts";

/** The organization of a page's address and an administrator of it; the page of unknown things for everybody else (S136). */
export async function findAppOwner(organizationName: string): Promise<{ person: Person; organization: Organization }> {
  const { person, organization } = await requireOrganizationPage(organizationName);
  if (!(await may(person, "oauth_app.create", { ownerUserId: null, ownerOrgId: organization.id }))) notFound();
  return { person, organization };
}
