import type { Metadata } from "next";
import { AuditEntryPage } from "../../../_components/audit/audit-entry-page.tsx";
import { requirePerson } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "Security log entry" };

const BASE = "/settings/security-log";

export default async function SecurityLogEntryPage({ params }: Readonly<{ params: Promise<{ id: string }> }>) {
  const { id } = await params;
  const person = await requirePerson(`${BASE}/${id}`);
  return (
    <AuditEntryPage
      person={person}
      scope={{ kind: "person", userId: person.userId }}
      id={id}
      base={BASE}
      listLabel="Security log"
    />
  );
}
