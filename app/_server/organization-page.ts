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
  /** The person's role; undefined for an operator who is not a member. */
  role: OrganizationRole | undefined;
  /**
   * The sign-in requirements of the organization that the person has not met. Until the person meets them, most of the organization is
   * closed to the person.
   */
  restrictions: readonly SecurityRestriction[];
  /** Whether the person may change members and settings. */
  isManager: boolean;
}>;

/** An organization's name in a page's path. */
export type OrganizationParams = Promise<{ org: string }>;

/** The data that all pages of an organization read. 404 for people who may not see the organization, as if there were none (S136). */
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

/** The path of an organization's page below `/organizations/<name>`; empty for the overview. */
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

/** The title of a page of an organization, as the page's `generateMetadata`. */
export function organizationTitle(title: string): (page: Readonly<{ params: OrganizationParams }>) => Promise<Metadata> {
  return async ({ params }) => {
    const { organization } = await requireOrganizationPage((await params).org);
    return { title: `${title} · ${organization.fullName}` };
  };
}
