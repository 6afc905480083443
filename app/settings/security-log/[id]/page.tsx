import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { findAuditPlace } from "#core/accounts/audit-log/find-audit-place.ts";
import { findAuditEntry } from "#core/accounts/audit-log/list-audit-entries.ts";
import { isServiceError } from "#core/errors.ts";
import { AuditEntry } from "../../../_components/audit/audit-entry.tsx";
import { requirePerson } from "../../../_server/session.ts";

export const metadata: Metadata = { title: "Entry of the security log" };

const BASE = "/settings/security-log";

export default async function SecurityLogEntryPage({ params }: Readonly<{ params: Promise<{ id: string }> }>) {
  const { id } = await params;
  const person = await requirePerson(`${BASE}/${id}`);
  const entry = await findAuditEntry(person, { kind: "person", userId: person.userId }, id).catch((error: unknown) => {
    if (isServiceError(error)) notFound();
    throw error;
  });
  return <AuditEntry entry={entry} place={await findAuditPlace(entry.id)} base={BASE} listLabel="Security log" />;
}
