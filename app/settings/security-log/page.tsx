import type { Metadata } from "next";
import { AuditLogPage } from "../../_components/audit/audit-log-page.tsx";
import type { PageQuery } from "../../_server/page-query.ts";
import { requirePerson } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Security log" };

const BASE = "/settings/security-log";

export default async function SecurityLogPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const person = await requirePerson(BASE);
  return (
    <AuditLogPage
      person={person}
      scope={{ kind: "person", userId: person.userId }}
      base={BASE}
      query={await searchParams}
      header={{
        title: "Security log",
        description:
          "Your actions here, and actions of others on your account. If you do not recognize an entry, end your other sessions and, if you have a password, change it.",
      }}
      emptyText="Sign-ins, authorized apps and new tokens appear here."
    />
  );
}
