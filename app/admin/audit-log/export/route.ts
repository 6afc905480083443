import { answerAuditExport } from "../../../_server/audit-export.ts";
import { requireOperator } from "../../../_server/session.ts";

export async function GET(request: Request): Promise<Response> {
  await requireOperator("/admin/audit-log");
  return answerAuditExport(request, { kind: "installation" }, "installation");
}
