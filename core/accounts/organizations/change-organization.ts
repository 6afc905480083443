import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { Action } from "#core/access/rules.ts";
import { type NewAuditEvent, recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { notFound } from "#core/errors.ts";

type RecordEvent = (event: Omit<NewAuditEvent, "actor" | "orgId" | "from">) => Promise<void>;

/** With the lock, a removed administrator cannot add an invitation after their invitations were revoked. */
export function changeOrganization<Result>(
  actor: Actor,
  { orgId, action, from }: { orgId: string; action: Extract<Action, `organization.${string}`>; from: RequestOrigin },
  change: (tx: Db, record: RecordEvent) => Promise<Result>,
): Promise<Result> {
  return inTransaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, action, { orgId }, { what: "Organization", tx });
    return change(tx, (event) => recordAuditEvent(tx, { ...event, actor, orgId, from }));
  });
}

/** Of two administrators who remove each other, one must remain. A stronger lock would make inserting a membership wait. */
export async function lockOrganization(tx: Db, orgId: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound("Organization");
}
