import type { OrganizationRole, SecurityRestriction } from "@keyhook/sdk";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { type Person, personActor } from "#core/access/actor.ts";
import { may } from "#core/access/may.ts";
import { standingInOrganization } from "#core/access/standing-in-organization.ts";
import { findOrganizationByName, type Organization } from "#core/accounts/organizations/find-organization.ts";
import { pathSegment } from "./paths.ts";
import { requireSession } from "./session.ts";

export type OrganizationPage = Readonly<{
  organization: Organization;
  person: Person;
  /** Undefined for an operator who is not a member. */
  role: OrganizationRole | undefined;
  /** Most of the organization is closed until the user meets these requirements. */
  restrictions: readonly SecurityRestriction[];
  isManager: boolean;
}>;

export type OrganizationParams = Promise<{ org: string }>;

/** 404 for users who may not see the organization (S136). */
export const requireOrganizationPage = cache(async (name: string): Promise<OrganizationPage> => {
  // Actions get the name from the browser, so it may be anything.
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

/** A path below `/organizations/<name>`. Empty for the overview. */
export type OrganizationPageName =
  | ""
  | "members"
  | `members/${string}`
  | "settings"
  | `settings/${string}`
  | "audit-log"
  | `audit-log/${string}`
  | "ask-for-app";

export function organizationPath(name: string, page: OrganizationPageName = ""): string {
  return `/organizations/${pathSegment(name)}${page && `/${page}`}`;
}

export function organizationTitle(title: string): (page: Readonly<{ params: OrganizationParams }>) => Promise<Metadata> {
  return async ({ params }) => {
    const { organization } = await requireOrganizationPage((await params).org);
    return { title: `${title} · ${organization.fullName}` };
  };
}
