import type { NavPage, NavSections } from "../../_components/side-navigation.tsx";
import { type OrganizationPageName, organizationPath } from "../../_server/organization-page.ts";

type Part = Readonly<{ page: OrganizationPageName; label: string; isExact?: boolean; isForMembers?: boolean }>;

/** The pages of an organization, in the order of the side navigation: a new page is a line here. */
const about: readonly Part[] = [
  { page: "", label: "Overview", isExact: true, isForMembers: true },
  { page: "members", label: "Members", isForMembers: true },
];

/** What administrators decide. */
const settings: readonly Part[] = [
  { page: "settings", label: "Profile", isExact: true },
  { page: "settings/applications", label: "OAuth apps" },
];

/** Those that the person may open. */
export function organizationSections(
  { name, fullName }: Readonly<{ name: string; fullName: string }>,
  isManager: boolean,
): NavSections {
  const pagesOf = (parts: readonly Part[]): NavPage[] =>
    parts
      .filter(({ isForMembers }) => isForMembers || isManager)
      .map(({ page, label, isExact }) => ({ href: organizationPath(name, page), label, isExact }));
  return [
    { label: fullName, pages: pagesOf(about) },
    { label: "Settings", pages: pagesOf(settings) },
  ].filter(({ pages }) => pages.length > 0);
}
