import type { ReactNode } from "react";
import { RestrictionNotice } from "../../_components/restriction-notice.tsx";
import { SideFrame, SideNavigation } from "../../_components/side-frame.tsx";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../_server/organization-page.ts";
import { organizationSections } from "./sections.ts";

export default async function OrganizationLayout({
  params,
  children,
}: Readonly<{ params: OrganizationParams; children: ReactNode }>) {
  const { organization, person, isManager, role } = await requireOrganizationPage((await params).org);
  return (
    <SideFrame
      navigation={
        <SideNavigation label={organization.fullName} sections={organizationSections(organization, { isManager, role })} />
      }
    >
      <RestrictionNotice
        userId={person.userId}
        orgId={organization.id}
        next={organizationPath(organization.name)}
        className="mb-5"
      />
      {children}
    </SideFrame>
  );
}
