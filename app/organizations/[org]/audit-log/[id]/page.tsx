import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { AuditEntryPage } from "../../../../_components/audit/audit-entry-page.tsx";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";

type Props = Readonly<{ params: Promise<{ org: string; id: string }> }>;

export const metadata: Metadata = { title: "Entry of the audit log" };

export default async function OrganizationAuditEntryPage({ params }: Props) {
  const { org, id } = await params;
  const { organization, person, isManager } = await requireOrganizationPage(org);
  if (!isManager) notFound();
  return (
    <AuditEntryPage
      person={person}
      scope={{ kind: "organization", orgId: organization.id }}
      id={id}
      base={organizationPath(organization.name, "audit-log")}
      listLabel="Audit log"
    />
  );
}
