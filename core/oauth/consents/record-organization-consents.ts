import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import type { Db } from "#core/db.ts";
import type { ConsentOwner } from "./store-consent.ts";

type Reached = Readonly<{ orgIds: readonly string[] }>;

/**
 * When a user grants an organization to an app, or no longer does, records it in that organization's log, for its administrators. What else
 * the user allowed does not concern them.
 */
export async function recordOrganizationConsents(
  tx: Db,
  { userId, clientId }: ConsentOwner,
  { before, after }: { before: Reached | undefined; after: Reached | undefined },
  from: RequestOrigin,
): Promise<void> {
  const [was, is] = [new Set(before?.orgIds), new Set(after?.orgIds)];
  const given = [...is]
    .filter((orgId) => !was.has(orgId))
    .map((orgId) => ({ orgId, type: "oauth_consent.give_organization" as const }));
  const taken = [...was]
    .filter((orgId) => !is.has(orgId))
    .map((orgId) => ({ orgId, type: "oauth_consent.revoke_organization" as const }));
  for (const each of [...given, ...taken]) {
    await recordAuditEvent(tx, { ...each, actorId: userId, clientId, subjectId: userId, from });
  }
}
