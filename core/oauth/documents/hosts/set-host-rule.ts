import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { displayText } from "#core/accounts/display-text.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, inTransaction } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { notifyEveryClientChange } from "../../apps/notify-app-change.ts";
import { findClientsUnder } from "./find-clients-under.ts";
import { parseHostName } from "./host-name.ts";
import type { HostRule } from "./judge-host.ts";

export type NewHostRule = {
  /** As typed: a name, or a URL on the host. */
  host: string;
  rule: string;
  /** The reason, for other operators. */
  note?: string;
};

const NOTE_MAX_CHARACTERS = 300;

/**
 * Allows or blocks a host of metadata documents with its subdomains, replacing an earlier rule for it. Blocking revokes the consents to its
 * clients in the same transaction (S87): after unblocking, users are asked again.
 * @returns the rule as stored, and how many users' consents it ended.
 * @throws ServiceError `forbidden`, `reauthentication_required` (S113); `invalid_request` with the field
 */
export async function setHostRule(
  actor: Actor,
  input: NewHostRule,
  from: RequestOrigin,
): Promise<HostRule & { revokedConsents: number }> {
  return inTransaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const host = parseHostName(input.host);
    const rule = parseRule(input.rule);
    const note = displayText("note", input.note ?? "", { maxCharacters: NOTE_MAX_CHARACTERS, isRequired: false }) || null;
    const stored = { rule, note, createdById: actorId(actor), createdAt: new Date() };
    await tx.oAuthClientHost.upsert({ where: { host }, create: { host, ...stored }, update: stored });
    const revokedConsents = rule === "block" ? await revokeBlocked(tx, host) : 0;
    await recordAuditEvent(tx, {
      type: `oauth_client_host.${rule}`,
      actorId: actorId(actor),
      data: { host, note, revokedConsents },
      from,
    });
    await notifyEveryClientChange(tx);
    return { host, rule, revokedConsents };
  });
}

function parseRule(rule: string): HostRule["rule"] {
  if (rule === "allow" || rule === "block") return rule;
  throw new ServiceError("invalid_request", "Choose allow or block.", { field: "rule" });
}

/** @returns how many consents were revoked */
async function revokeBlocked(tx: Db, host: string): Promise<number> {
  const clientIds = (await findClientsUnder(tx, host)).map(({ clientId }) => clientId);
  // Consents before their grants, as everywhere.
  const revoked =
    await tx.$executeRaw`UPDATE oauth_consent SET revoked_at = now() WHERE client_id = ANY (${clientIds}) AND revoked_at IS NULL`;
  await tx.$executeRaw`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.client_id = ANY (${clientIds}) AND g.revoked_at IS NULL`;
  return revoked;
}
