import { answerAuditExport } from "../../../../_server/audit-export.ts";
import { type OrganizationParams, requireOrganizationPage } from "../../../../_server/organization-page.ts";

export async function GET(request: Request, { params }: Readonly<{ params: OrganizationParams }>): Promise<Response> {
  const { organization, person } = await requireOrganizationPage((await params).org);
  return answerAuditExport(request, person, { kind: "organization", orgId: organization.id }, organization.name);
}
