import type { Metadata } from "next";
import { auditKinds } from "../../_components/audit/audit-kinds.ts";
import { AuditList } from "../../_components/audit/audit-list.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { auditSearchOf, readAuditPage } from "../../_server/audit-log-search.ts";
import type { PageQuery } from "../../_server/page-query.ts";
import { requirePerson } from "../../_server/session.ts";

export const metadata: Metadata = { title: "Security log" };

const BASE = "/settings/security-log";

/** What a person has done here, and what was done to their account. */
export default async function SecurityLogPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [person, query] = await Promise.all([requirePerson(BASE), searchParams]);
  const kinds = auditKinds({ isForOrganizations: false });
  const search = auditSearchOf(
    query,
    kinds.map(({ value }) => value),
  );
  const { page, problem } = await readAuditPage(person, { kind: "person", userId: person.userId }, search);
  return (
    <>
      <PageHeader
        title="Security log"
        description="What you did here, and what others did to your account. If an entry was not you, change your password and end your other sessions."
      />
      <AuditList
        page={page}
        base={BASE}
        address={search}
        kinds={kinds}
        problem={problem}
        emptyText="Signing in, apps that you allow, tokens that you make: each leaves a line here."
      />
    </>
  );
}
