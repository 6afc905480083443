import { redirect } from "next/navigation";
import { readStorageUsage } from "#core/storage/read-usage.ts";
import { PageHeader } from "../../../../_components/page-layout.tsx";
import { StorageSections } from "../../../../_components/storage-sections.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../../_server/organization-page.ts";

type Props = Readonly<{ params: OrganizationParams }>;

export const generateMetadata = organizationTitle("Storage");

export default async function OrganizationStoragePage({ params }: Props) {
  const { organization, person, restrictions, isManager } = await requireOrganizationPage((await params).org);
  const { id, name } = organization;
  // The overview says what the member must do first.
  if (restrictions.length > 0 && !isManager) redirect(organizationPath(name));
  const usage = await readStorageUsage(person, { kind: "organization", id, handle: name });
  return (
    <>
      <PageHeader title="Storage" description="How much storage the organization's repositories and records use." />
      <StorageSections usage={usage} handle={name} kind="organization" />
    </>
  );
}
