import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import { notFound } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { standingInOrganization } from "#core/access/standing-in-organization.ts";
import { findOrganizationByName, type Organization } from "#core/accounts/organizations/find-organization.ts";
import { pathSegment } from "./path-segment.ts";
import { requireSession } from "./session.ts";

export type OrganizationPage = Readonly<{
  organization: Organization;
  person: Person;
  /** Undefined for an operator who is no member. */
  role: OrganizationRole | undefined;
  /** What the organization asks of the person that they have not met: until then nearly all of it is closed to them. */
  restrictions: readonly SecurityRestriction[];
  /** May change members and settings. */
  isManager: boolean;
}>;

/** An organization's handle as a page's address carries it. */
export type OrganizationParams = Promise<{ org: string }>;

/** What the pages of an organization start from; 404 for those who may not see them, whether it exists or not (S136). */
export const requireOrganizationPage = cache(async (name: string): Promise<OrganizationPage> => {
  // Actions get it from the browser, so it may be anything.
  if (typeof name !== "string" || !name.isWellFormed()) notFound();
  const session = await requireSession(organizationPath(name));
  const person = personActor(session);
  const organization = await findOrganizationByName(name);
  if (!organization || !(await may(person, "organization.read_membership", { orgId: organization.id }))) notFound();
  const [standing, isManager] = await Promise.all([
    standingInOrganization(person.userId, organization.id),
    may(person, "organization.manage", { orgId: organization.id }),
  ]);
  return { organization, person, role: standing?.role, restrictions: standing?.restrictions ?? [], isManager };
});

/** A page of an organization; empty for its overview. */
export type OrganizationPageName =
  | ""
  | "members"
  | `members/${string}`
  | "settings"
  | `settings/${string}`
  | "audit-log"
  | `audit-log/${string}`
  | "ask-for-app";

/** `/organizations/<name>/<page>` */
export function organizationPath(name: string, page: OrganizationPageName = ""): string {
  return `/organizations/${pathSegment(name)}${page && `/${page}`}`;
}
