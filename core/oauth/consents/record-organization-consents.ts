import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import type { Db } from "#core/db.ts";
import type { ConsentOwner } from "./store-consent.ts";

type Reached = Readonly<{ orgIds: readonly string[] }>;

/**
 * Whom a person has let in to an organization, or no longer lets in, is for its administrators to read as well: an entry in the log of
 * each organization for which something changed. What else the person allowed is not their affair.
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
