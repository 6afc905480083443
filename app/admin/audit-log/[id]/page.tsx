import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findAuditPlace } from "#core/accounts/audit-log/find-audit-place.ts";
import { findAuditEntry } from "#core/accounts/audit-log/list-audit-entries.ts";
import { isServiceError } from "#core/errors.ts";
import { AuditEntry } from "../../../_components/audit/audit-entry.tsx";
import { requireOperator } from "../../../_server/operator-page.ts";

export const metadata: Metadata = { title: "Entry of the audit log · Administration" };

export default async function AdminAuditEntryPage({ params }: Readonly<{ params: Promise<{ id: string }> }>) {
  const { id } = await params;
  const operator = await requireOperator(`/admin/audit-log/${id}`);
  const entry = await findAuditEntry(operator, { kind: "installation" }, id).catch((error: unknown) => {
    if (isServiceError(error)) notFound();
    throw error;
  });
  return <AuditEntry entry={entry} place={await findAuditPlace(entry.id)} base="/admin/audit-log" listLabel="Audit log" />;
}
