import type { Metadata } from "next";
import { readAuditRetention } from "#core/audit/retention.ts";
import { counted } from "#core/counted.ts";
import { AuditLogPage } from "../../_components/audit/audit-log-page.tsx";
import type { PageQuery } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { AdminCommand } from "../admin-command.tsx";

export const metadata: Metadata = { title: "Audit log · Administration" };

const BASE = "/admin/audit-log";

export default async function AdminAuditLogPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const [operator, query, { keepDays }] = await Promise.all([requireOperator(BASE), searchParams, readAuditRetention()]);
  return (
    <AuditLogPage
      person={operator}
      scope={{ kind: "installation" }}
      base={BASE}
      query={query}
      header={{
        title: "Audit log",
        description: "All recorded actions of users and organizations.",
      }}
      emptyText="Actions of users and apps will appear here."
      isOrganizationShown
      isExportable
    >
      <p className="max-w-reading text-muted text-small">
        Entries are kept {keepDays === null ? "forever" : `for ${counted(keepDays, "day")}`}; the command{" "}
        <AdminCommand>audit retention</AdminCommand> sets this. To check that no entry was changed or removed, run{" "}
        <AdminCommand>audit verify</AdminCommand>.
      </p>
    </AuditLogPage>
  );
}
