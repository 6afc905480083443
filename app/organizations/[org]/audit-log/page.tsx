import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { mayPlanExport } from "#core/accounts/audit-log/export-audit-log.ts";
import { auditKinds } from "../../../_components/audit/audit-kinds.ts";
import { AuditList } from "../../../_components/audit/audit-list.tsx";
import { ExportLinks } from "../../../_components/audit/export-links.tsx";
import { PageHeader } from "../../../_components/page-header.tsx";
import { auditQuery, auditSearchOf, readAuditPage } from "../../../_server/audit-log-search.ts";
import { type OrganizationParams, organizationPath, requireOrganizationPage } from "../../../_server/organization-page.ts";
import type { PageQuery } from "../../../_server/page-query.ts";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { organization } = await requireOrganizationPage((await params).org);
  return { title: `Audit log · ${organization.fullName}` };
}

/** What has happened in an organization, for its administrators. */
export default async function AuditLogPage({ params, searchParams }: Props) {
  const [{ org }, query] = await Promise.all([params, searchParams]);
  const { organization, person, isManager } = await requireOrganizationPage(org);
  if (!isManager) notFound();
  const kinds = auditKinds({ isForOrganizations: true });
  const search = auditSearchOf(
    query,
    kinds.map(({ value }) => value),
  );
  const base = organizationPath(organization.name, "audit-log");
  const { page, problem } = await readAuditPage(person, { kind: "organization", orgId: organization.id }, search);
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Who did what in this organization, on whom, when and from where. Nothing here can be changed or deleted."
      />
      <div className="grid grid-cols-1 gap-4">
        <AuditList
          page={page}
          base={base}
          address={search}
          kinds={kinds}
          problem={problem}
          emptyText="What members and apps do here will stand here: changes of apps and secrets, roles, repositories, exchanges of tokens."
        />
        {mayPlanExport(organization.plan) ? (
          !problem && <ExportLinks action={`${base}/export`} q={auditQuery(search)} />
        ) : (
          <p className="text-muted text-small">
            With the plan Team or Enterprise the log can be exported, here and over the API. The operator of this service sets the
            plan.
          </p>
        )}
      </div>
    </>
  );
}
