import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findAuditPlace } from "#core/accounts/audit-log/find-audit-place.ts";
import { findAuditEntry } from "#core/accounts/audit-log/list-audit-entries.ts";
import { isServiceError } from "#core/errors.ts";
import { AuditEntry } from "../../../../_components/audit/audit-entry.tsx";
import { organizationPath, requireOrganizationPage } from "../../../../_server/organization-page.ts";

type Props = Readonly<{ params: Promise<{ org: string; id: string }> }>;

export const metadata: Metadata = { title: "Entry of the audit log" };

export default async function AuditEntryPage({ params }: Props) {
  const { org, id } = await params;
  const { organization, person, isManager } = await requireOrganizationPage(org);
  if (!isManager) notFound();
  const entry = await findAuditEntry(person, { kind: "organization", orgId: organization.id }, id).catch((error: unknown) => {
    if (isServiceError(error)) notFound();
    throw error;
  });
  const base = organizationPath(organization.name, "audit-log");
  return <AuditEntry entry={entry} place={await findAuditPlace(entry.id)} base={base} listLabel="Audit log" />;
}
