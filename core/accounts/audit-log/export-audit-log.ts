import { stringify } from "csv-stringify/sync";
import { type Actor, actorId, clientIdOf } from "#core/access/actor.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { fairQueue } from "#core/fair-queue/fair-queue.ts";
import { currentParty, type Party } from "#core/fair-queue/party.ts";
import { auditEventOnTheWire, type WireAuditEvent } from "./audit-event-on-the-wire.ts";
import { type AuditScope, parseAuditQuery, requireAuditScope } from "./audit-query.ts";
import { type AuditPosition, readAuditEntries } from "./read-audit-entries.ts";

/** See docs/specification/organizations-and-tokens.md#audit-log. */
const AUDIT_EXPORT_MAX_ENTRIES = 100_000;
const BATCH = 1_000;

const exports = fairQueue({ name: "audit_exports", slots: 4, waitMaxMs: 60_000 });

/** See docs/specification/organizations-and-tokens.md#audit-log. */
const plansWithExport: readonly string[] = ["team", "enterprise", "plus", "academia"];

/**
 * The export itself is logged (S116). A slow reader may take hours, so each batch checks the permission again (S114). If the
 * permission is gone, the generator throws, so that nobody takes a partial file for the complete one.
 */
export async function exportAuditLog(
  actorNow: () => Promise<Actor>,
  scope: AuditScope,
  { q, format }: { q: string; format: AuditExportFormat },
  from: RequestOrigin,
): Promise<AsyncGenerator<string>> {
  const actor = await actorNow();
  await requireAuditScope(actor, scope);
  const orgId = scope.kind === "organization" ? scope.orgId : null;
  if (orgId && actor.kind !== "command") await requirePlan(orgId);
  const asked = parseAuditQuery(q);
  const now = new Date();
  const filter = { ...asked, until: asked.until && asked.until < now ? asked.until : now };
  const userId = actorId(actor);
  await recordAuditEvent(db(), {
    type: "audit_log.export",
    actorId: userId,
    orgId,
    clientId: clientIdOf(actor),
    data: { format, q },
    from,
  });
  const requireStill = async () => requireAuditScope(await actorNow(), scope);
  return readPieces(scope, filter, format, currentParty(), requireStill);
}

async function* readPieces(
  scope: AuditScope,
  filter: ReturnType<typeof parseAuditQuery>,
  format: AuditExportFormat,
  party: Party,
  requireStill: () => Promise<void>,
): AsyncGenerator<string> {
  let before: AuditPosition | undefined;
  for (let sent = 0; ; ) {
    const limit = Math.min(BATCH, AUDIT_EXPORT_MAX_ENTRIES - sent);
    const read = () => readAuditEntries(scope, { filter, limit, before });
    const { rows, end } = await exports.run(read, { party });
    before = rows.length < limit ? end : rows.at(-1);
    const isLast = !before || sent + rows.length >= AUDIT_EXPORT_MAX_ENTRIES;
    if (rows.length > 0 || isLast) yield formatBatch(format, rows.map(auditEventOnTheWire), { isFirst: sent === 0, isLast });
    sent += rows.length;
    if (isLast) return;
    await requireStill();
  }
}

async function requirePlan(orgId: string): Promise<void> {
  const organization = await db().organization.findUnique({ where: { id: orgId }, select: { plan: true } });
  if (!organization?.plan || !plansWithExport.includes(organization.plan)) {
    throw new ServiceError(
      "forbidden",
      "Exporting the audit log requires the Team, Enterprise, Plus or Academia plan. Ask the operator of this service.",
    );
  }
}

export function mayPlanExport(plan: string | null): boolean {
  return plan !== null && plansWithExport.includes(plan);
}

export const auditExportFormats = ["json", "jsonl", "csv"] as const;
export type AuditExportFormat = (typeof auditExportFormats)[number];

export const mediaTypeOf: Record<AuditExportFormat, string> = {
  json: "application/json; charset=utf-8",
  jsonl: "application/jsonl; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
};

type BatchPosition = { isFirst: boolean; isLast: boolean };

function formatBatch(format: AuditExportFormat, events: WireAuditEvent[], { isFirst, isLast }: BatchPosition): string {
  if (format === "csv") return toCsv(events, isFirst);
  const texts = events.map((event) => JSON.stringify(event));
  if (format === "jsonl") return texts.map((text) => `${text}\n`).join("");
  return `${isFirst ? "[" : ""}${texts.length > 0 && !isFirst ? ",\n" : ""}${texts.join(",\n")}${isLast ? "]\n" : ""}`;
}

const columns: Record<string, (event: WireAuditEvent) => string | null> = {
  id: ({ _id }) => _id,
  created_at: ({ createdAt }) => createdAt,
  type: ({ type }) => type,
  message: ({ message }) => message,
  author_type: ({ author }) => author.type,
  author_id: ({ author }) => author._id ?? null,
  author: ({ author }) => author.user ?? null,
  subject_id: ({ subject }) => subject?._id ?? null,
  subject: ({ subject }) => subject?.user ?? null,
  organization: ({ organization }) => organization?.name ?? null,
  client_id: ({ oauth }) => oauth?.clientId ?? null,
  client_name: ({ oauth }) => oauth?.name ?? null,
  token_type: ({ token }) => token?.type ?? null,
  token_id: ({ token }) => token?.id ?? null,
  token_last4: ({ token }) => token?.last4 ?? null,
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  data: ({ data }) => JSON.stringify(data),
};

/** RFC 4180. Escapes formulas, which strangers could put into names of apps and browsers, and spreadsheets would run. */
function toCsv(events: WireAuditEvent[], isFirst: boolean): string {
  const rows = events.map((event) => Object.values(columns).map((read) => read(event)));
  const records = isFirst ? [Object.keys(columns), ...rows] : rows;
  return stringify(records, { escape_formulas: true, record_delimiter: "\r\n" });
}
