import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { currentParty, type Party } from "../../fair-queue/party.ts";
import { auditEventOnTheWire } from "./audit-event-on-the-wire.ts";
import { type AuditExportFormat, formatBatch } from "./audit-export-formats.ts";
import { type AuditScope, requireAuditScope } from "./audit-scope.ts";
import { parseAuditQuery } from "./parse-audit-query.ts";
import { type AuditPosition, readAuditEntries } from "./read-audit-entries.ts";

/** docs/specification/organizations-and-tokens.md#audit-log */
export const AUDIT_EXPORT_MAX_ENTRIES = 100_000;
/** Entries read and sent at a time: this bounds the memory of an export, whatever its length. */
const BATCH = 1_000;

/** The slot is held for one batch at a time: a slow reader of a long export holds none in between. */
const exports = fairQueue({ name: "audit_exports", places: 4, waitMaxMs: 60_000 });

/** Plans whose organizations may export their log (docs/specification/organizations-and-tokens.md#audit-log); all can read it here. */
const plansWithExport: readonly string[] = ["team", "enterprise", "plus", "academia"];

/**
 * A part of the log as a file, the newest entry first, at most 100,000. The export itself is logged (S116); entries recorded
 * after it began are not in the file. A slow reader may take hours: the permission is checked again before each batch (S114).
 * @param actorNow looks up the caller anew each time
 * @param q as in `parseAuditQuery`
 * @returns the text, piece by piece; it throws once the permission is gone, so that a partial file is not taken for the whole
 * @throws ServiceError `invalid_request`, `forbidden` (also if the plan does not allow it), `not_found`: all before the first
 * piece
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
      "Exporting the audit log takes the plan Team or Enterprise. Ask the operator of this service.",
    );
  }
}

/** Whether an organization's plan allows exporting its log, for the page that offers it. */
export function mayPlanExport(plan: string | null): boolean {
  return plan !== null && plansWithExport.includes(plan);
}
