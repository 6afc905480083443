import { redirect } from "next/navigation";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../_server/organization-page.ts";

/** Leads to the first page of the navigation. */
export default async function OrganizationPage({ params }: Readonly<{ params: OrganizationParams }>) {
  const { organization } = await requireOrganizationPage((await params).org);
  redirect(organizationPath(organization.name, "members"));
}
