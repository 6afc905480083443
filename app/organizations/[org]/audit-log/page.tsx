import { notFound } from "next/navigation";
import { mayPlanExport } from "#core/accounts/audit-log/export-audit-log.ts";
import { AuditLogPage } from "../../../_components/audit/audit-log-page.tsx";
import {
  type OrganizationParams,
  organizationPath,
  organizationTitle,
  requireOrganizationPage,
} from "../../../_server/organization-page.ts";
import type { PageQuery } from "../../../_server/page-query.ts";

type Props = Readonly<{ params: OrganizationParams; searchParams: PageQuery }>;

export const generateMetadata = organizationTitle("Audit log");

export default async function OrganizationAuditLogPage({ params, searchParams }: Props) {
  const { organization, person, isManager } = await requireOrganizationPage((await params).org);
  if (!isManager) notFound();
  const mayExport = mayPlanExport(organization.plan);
  return (
    <AuditLogPage
      person={person}
      scope={{ kind: "organization", orgId: organization.id }}
      base={organizationPath(organization.name, "audit-log")}
      query={await searchParams}
      header={{
        title: "Audit log",
        description:
          "Who did what in this organization, when and from where. Nobody can change an entry; the operator sets how long entries are kept.",
      }}
      emptyText="Actions of members and apps appear here, such as changes to apps, secrets, roles and repositories, and token exchanges."
      isForOrganizations
      isExportable={mayExport}
    >
      {!mayExport && (
        <p className="text-muted text-small">
          With the Team, Enterprise, Plus or Academia plan, you can export the log here or through the API. The operator of this
          service sets the plan.
        </p>
      )}
    </AuditLogPage>
  );
}
