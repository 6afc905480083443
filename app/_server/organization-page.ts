import type { OrganizationRole } from "@keyhook/sdk";
import { notFound } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { roleInOrganization } from "#core/access/standing-in-organization.ts";
import { findOrganizationByName, type Organization } from "#core/accounts/organizations/find-organization.ts";
import { requireSession } from "./session.ts";

export type OrganizationPage = Readonly<{
  organization: Organization;
  person: Person;
  /** Undefined for an operator who is no member. */
  role: OrganizationRole | undefined;
  /** May change members and settings. */
  isManager: boolean;
}>;

/** An organization's handle as a page's address carries it. */
export type OrganizationParams = Promise<{ org: string }>;

/** What the pages of an organization start from; 404 for those who may not see them, whether it exists or not (S136). */
export const requireOrganizationPage = cache(async (name: string): Promise<OrganizationPage> => {
  const session = await requireSession(organizationPath(name, "members"));
  const person = personActor(session);
  const organization = await findOrganizationByName(name);
  if (!organization || !(await may(person, "organization.read_membership", { orgId: organization.id }))) notFound();
  const [role, isManager] = await Promise.all([
    roleInOrganization(person.userId, organization.id),
    may(person, "organization.manage", { orgId: organization.id }),
  ]);
  return { organization, person, role, isManager };
});

/** `/organizations/<name>/<page>` */
export function organizationPath(
  name: string,
  page: "settings" | "settings/applications" | "members" | `members/${string}`,
): string {
  return `/organizations/${encodeURIComponent(name)}/${page}`;
}
