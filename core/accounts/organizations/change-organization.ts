import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { Action } from "#core/access/rules.ts";
import { type NewAuditEvent, recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { notFound } from "#core/errors.ts";

/** Writes an entry into the organization's log. */
type RecordEvent = (event: Omit<NewAuditEvent, "actor" | "orgId" | "from">) => Promise<void>;

/**
 * Runs one change of an organization or its members in a transaction that locks its row. The permission is checked under the lock: a user
 * who is losing the right at the same moment must not, for example, add an invitation after theirs were revoked.
 * @throws ServiceError `not_found`, and as `requirePermission`
 */
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

/**
 * Serializes changes to the members of one organization: if two administrators remove each other at the same time, one must remain. It is
 * the weakest lock that excludes itself: inserting a membership, whose foreign key reads the row, does not wait for it.
 * @throws ServiceError `not_found`
 */
export async function lockOrganization(tx: Db, orgId: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR NO KEY UPDATE`;
  if (locked.length === 0) throw notFound("Organization");
}
