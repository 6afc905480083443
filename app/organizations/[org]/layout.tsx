import type { ReactNode } from "react";
import { SideFrame } from "../../_components/side-frame.tsx";
import { SideNavigation } from "../../_components/side-navigation.tsx";
import { type OrganizationParams, requireOrganizationPage } from "../../_server/organization-page.ts";
import { organizationSections } from "./sections.ts";

export default async function OrganizationLayout({
  params,
  children,
}: Readonly<{ params: OrganizationParams; children: ReactNode }>) {
  const { organization, isManager } = await requireOrganizationPage((await params).org);
  return (
    <SideFrame
      navigation={<SideNavigation label={organization.fullName} sections={organizationSections(organization, isManager)} />}
    >
      {children}
    </SideFrame>
  );
}
