import type { Metadata } from "next";
import { readAuditRetention } from "#core/audit/retention.ts";
import { auditKinds } from "../../_components/audit/audit-kinds.ts";
import { AuditList } from "../../_components/audit/audit-list.tsx";
import { ExportLinks } from "../../_components/audit/export-links.tsx";
import { PageHeader } from "../../_components/page-header.tsx";
import { auditQuery, auditSearchOf, readAuditPage } from "../../_server/audit-log-search.ts";
import { requireOperator } from "../../_server/operator-page.ts";
import type { PageQuery } from "../../_server/page-query.ts";

export const metadata: Metadata = { title: "Audit log · Administration" };

const BASE = "/admin/audit-log";

/** What has happened in the whole installation. */
export default async function AdminAuditLogPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [operator, query, { keepDays }] = await Promise.all([requireOperator(BASE), searchParams, readAuditRetention()]);
  const kinds = auditKinds({ isForOrganizations: false });
  const search = auditSearchOf(
    query,
    kinds.map(({ value }) => value),
  );
  const { page, problem } = await readAuditPage(operator, { kind: "installation" }, search);
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Everything that was recorded in this installation, of people and organizations alike."
      />
      <div className="grid grid-cols-1 gap-4">
        <AuditList
          page={page}
          base={BASE}
          address={search}
          kinds={kinds}
          problem={problem}
          emptyText="What people and apps do will stand here."
          isOrganizationShown
        />
        {!problem && <ExportLinks action={`${BASE}/export`} q={auditQuery(search)} />}
        <p className="max-w-reading text-muted text-small">
          Entries are kept {keepDays === null ? "for ever" : `for ${keepDays} days`}; the command{" "}
          <code>admin audit retention</code> sets it. That none was changed or taken out is proved by{" "}
          <code>admin audit verify</code>.
        </p>
      </div>
    </>
  );
}
