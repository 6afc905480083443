import type { Metadata } from "next";
import { AuditEntryPage } from "../../../_components/audit/audit-entry-page.tsx";
import { requireOperator } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "Entry of the audit log · Administration" };

export default async function AdminAuditEntryPage({ params }: Readonly<{ params: Promise<{ id: string }> }>) {
  const { id } = await params;
  const operator = await requireOperator(`/admin/audit-log/${id}`);
  return (
    <AuditEntryPage person={operator} scope={{ kind: "installation" }} id={id} base="/admin/audit-log" listLabel="Audit log" />
  );
}
