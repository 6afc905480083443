import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import type { NavPage, NavSections } from "../../_components/side-navigation.tsx";
import { type OrganizationPageName, organizationPath } from "../../_server/organization-page.ts";

export type Part = Readonly<{
  page: OrganizationPageName;
  label: string;
  /** What one finds there, for the overview. */
  hint?: string;
  isExact?: boolean;
  /** For every member; the others are for administrators. */
  isForMembers?: boolean;
  /** For members from this role upwards, and for nobody else. */
  least?: OrganizationRole;
}>;

/** The pages of an organization, in the order of the side navigation: a new page is a line here. */
const about: readonly Part[] = [
  { page: "", label: "Overview", isExact: true, isForMembers: true },
  { page: "members", label: "Members", hint: "Who is in, with which role; invitations; leaving", isForMembers: true },
  { page: "audit-log", label: "Audit log", hint: "Who did what here, when and from where" },
];

/** What administrators decide. */
const settings: readonly Part[] = [
  { page: "settings", label: "Profile", hint: "Name, logo and contact, as others see them", isExact: true },
  { page: "settings/security", label: "Sign-in rules", hint: "A second step, or your own issuer, for all members" },
  { page: "settings/applications", label: "OAuth apps", hint: "Apps that the organization owns, with their secrets" },
  { page: "settings/webhooks", label: "Webhooks", hint: "What is told of changes as they happen, and what became of it" },
  { page: "settings/jobs", label: "Jobs", hint: "Commands that run here, by hand, on a schedule or on events", least: "write" },
  { page: "settings/app-policy", label: "App policy", hint: "Which apps members may let in, and which wait for your word" },
  {
    page: "settings/publishers",
    label: "Trusted publishers",
    hint: "Pipelines that may change your repositories without a token",
  },
  { page: "settings/storage", label: "Storage", hint: "How much storage repositories and records use", isForMembers: true },
  { page: "settings/ownership", label: "Ownership", hint: "Handing the organization over, or deleting it" },
];

/** Who looks: an operator is a manager who may have no role. */
export type Viewer = Readonly<{ isManager: boolean; role: OrganizationRole | undefined }>;

/** The parts that the person may open. */
export function partsFor({ isManager, role }: Viewer): readonly Part[] {
  return [...about, ...settings].filter(({ isForMembers, least }) =>
    least ? role !== undefined && isRoleAtLeast(role, least) : isForMembers || isManager,
  );
}

/** The same for the side navigation. */
export function organizationSections(
  { name, fullName }: Readonly<{ name: string; fullName: string }>,
  viewer: Viewer,
): NavSections {
  const open = partsFor(viewer);
  const pagesOf = (parts: readonly Part[]): NavPage[] =>
    parts
      .filter((part) => open.includes(part))
      .map(({ page, label, isExact }) => ({ href: organizationPath(name, page), label, isExact }));
  return [
    { label: fullName, pages: pagesOf(about) },
    { label: "Settings", pages: pagesOf(settings) },
  ].filter(({ pages }) => pages.length > 0);
}
