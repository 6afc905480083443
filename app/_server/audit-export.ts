import type { AuditScope } from "#core/accounts/audit-log/audit-query.ts";
import {
  type AuditExportFormat,
  auditExportFormats,
  exportAuditLog,
  mediaTypeOf,
} from "#core/accounts/audit-log/export-audit-log.ts";
import { isServiceError } from "#core/errors.ts";
import { streamOfText } from "#core/http/stream-of-text.ts";
import { requestOrigin } from "./request-origin.ts";
import { personLookup } from "./session.ts";

/** Refuses requests from other sites, because the log records each export under the user's name. */
export async function answerAuditExport(request: Request, scope: AuditScope, name: string): Promise<Response> {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return refusal("Start the export on the audit log page.", 403);
  const query = new URL(request.url).searchParams;
  const format: AuditExportFormat = auditExportFormats.find((each) => each === query.get("format")) ?? "json";
  try {
    const pieces = await exportAuditLog(await personLookup(), scope, { q: query.get("q") ?? "", format }, await requestOrigin());
    return new Response(streamOfText(pieces), {
      headers: {
        "Content-Type": mediaTypeOf[format],
        "Content-Disposition": `attachment; filename="audit-log-${name}.${format}"`,
        "Cache-Control": "no-store",
      },
    });
  } catch (error) {
    if (isServiceError(error)) return refusal(error.message, error.status);
    throw error;
  }
}

function refusal(text: string, status: number): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
