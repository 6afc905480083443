import type { ReactNode } from "react";
import { SideFrame } from "../../_components/side-frame.tsx";
import { type NavPage, SideNavigation } from "../../_components/side-navigation.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../_server/organization-page.ts";

export default async function OrganizationLayout({
  params,
  children,
}: Readonly<{ params: OrganizationParams; children: ReactNode }>) {
  const { organization, isManager } = await requireOrganizationPage((await params).org);
  const { name, fullName } = organization;
  const managed: NavPage[] = [
    { href: organizationPath(name, "settings"), label: "Profile", isExact: true },
    { href: organizationPath(name, "settings/applications"), label: "OAuth apps" },
  ];
  const pages: NavPage[] = [{ href: organizationPath(name, "members"), label: "Members" }, ...(isManager ? managed : [])];
  return (
    <SideFrame navigation={<SideNavigation label={fullName} sections={[{ label: fullName, pages }]} />}>{children}</SideFrame>
  );
}
