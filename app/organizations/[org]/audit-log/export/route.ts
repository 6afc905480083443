import { answerAuditExport } from "../../../../_server/audit-export.ts";
import { type OrganizationParams, requireOrganizationPage } from "../../../../_server/organization-page.ts";

export async function GET(request: Request, { params }: Readonly<{ params: OrganizationParams }>): Promise<Response> {
  const { organization } = await requireOrganizationPage((await params).org);
  return answerAuditExport(request, { kind: "organization", orgId: organization.id }, organization.name);
}
