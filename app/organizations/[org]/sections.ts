import { isRoleAtLeast, type OrganizationRole } from "@keyhook/sdk";
import type { NavPage, NavSections } from "../../_components/side-frame.tsx";
import { type OrganizationPageName, organizationPath } from "../../_server/organization-page.ts";

type Part = Readonly<{
  page: OrganizationPageName;
  label: string;
  isExact?: boolean;
  /** Pages with neither this field nor `least` are only for administrators. */
  isForMembers?: boolean;
  least?: OrganizationRole;
}>;

const about: readonly Part[] = [
  { page: "", label: "Overview", isExact: true, isForMembers: true },
  { page: "members", label: "Members", isForMembers: true },
  { page: "audit-log", label: "Audit log" },
];

const settings: readonly Part[] = [
  { page: "settings", label: "Profile", isExact: true },
  { page: "settings/security", label: "Sign-in requirements" },
  { page: "settings/applications", label: "OAuth apps" },
  { page: "settings/webhooks", label: "Webhooks" },
  { page: "settings/jobs", label: "Jobs", least: "write" },
  { page: "settings/app-policy", label: "App policy" },
  { page: "settings/publishers", label: "Trusted publishers" },
  { page: "settings/storage", label: "Storage", isForMembers: true },
  { page: "settings/ownership", label: "Ownership" },
];

/** An operator is a manager, possibly without a role. */
type Viewer = Readonly<{ isManager: boolean; role: OrganizationRole | undefined }>;

function partsFor({ isManager, role }: Viewer): readonly Part[] {
  return [...about, ...settings].filter(({ isForMembers, least }) =>
    least ? role !== undefined && isRoleAtLeast(role, least) : isForMembers || isManager,
  );
}

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
