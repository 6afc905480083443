import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { displayText } from "#core/accounts/plain-text.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db, inTransaction, pool } from "#core/db.ts";
import { invalidRequest, notFound } from "#core/errors.ts";
import { notifyEveryClientChange } from "../../apps/change-app.ts";
import { hostnameOf } from "../document-address.ts";
import { decideHost, type HostRule } from "./document-policy.ts";
import { parseHostName } from "./host-name.ts";

type NewHostRule = {
  host: string;
  rule: string;
  note?: string;
};

const NOTE_MAX_CHARACTERS = 300;

/**
 * See S113. A blocking rule revokes the consents to the host's clients (S87).
 * @returns the rule and the number of revoked consents
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
    await recordAuditEvent(tx, { type: `oauth_client_host.${rule}`, actor, data: { host, note, revokedConsents }, from });
    await notifyEveryClientChange(tx);
    return { host, rule, revokedConsents };
  });
}

function parseRule(rule: string): HostRule["rule"] {
  if (rule === "allow" || rule === "block") return rule;
  throw invalidRequest("Choose allow or block.", "rule");
}

async function revokeBlocked(tx: Db, host: string): Promise<number> {
  const clientIds = (await findClientsUnder(tx, host)).map(({ clientId }) => clientId);
  const revoked =
    await tx.$executeRaw`UPDATE oauth_consent SET revoked_at = now() WHERE client_id = ANY (${clientIds}) AND revoked_at IS NULL`;
  await tx.$executeRaw`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.client_id = ANY (${clientIds}) AND g.revoked_at IS NULL`;
  return revoked;
}

/** Afterwards, the rule of a parent domain or the policy decides (S113). */
export async function removeHostRule(actor: Actor, host: string, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const name = parseHostName(host);
    const found = await tx.oAuthClientHost.findUnique({ where: { host: name } });
    const { count } = await tx.oAuthClientHost.deleteMany({ where: { host: name } });
    if (!found || count === 0) throw notFound(`Rule for ${name}`);
    await recordAuditEvent(tx, { type: "oauth_client_host.remove", actor, data: { host: name, rule: found.rule }, from });
    await notifyEveryClientChange(tx);
  });
}

export type ListedHostRule = HostRule & {
  note: string | null;
  /** Null for the operator's command, or if the account was deleted. */
  createdBy: string | null;
  createdAt: Date;
};

export async function listHostRules(actor: Actor, request: PageRequest = {}): Promise<Page<ListedHostRule>> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const [total, rows] = await Promise.all([
    db().oAuthClientHost.count(),
    db().oAuthClientHost.findMany({ orderBy: { host: "asc" }, skip, take }),
  ]);
  const ids = rows.flatMap(({ createdById }) => createdById ?? []);
  const users = await db().user.findMany({ where: { id: { in: ids } }, select: { id: true, username: true } });
  const items = rows.map(({ host, rule, note, createdById, createdAt }) => ({
    host,
    rule: rule as HostRule["rule"],
    note,
    createdBy: users.find(({ id }) => id === createdById)?.username ?? null,
    createdAt,
  }));
  return { items, page, pageSize, total };
}

export type HostBlockPreview = {
  host: string;
  clients: ClientUnderHost[];
  userCount: number;
};

export async function previewHostBlock(actor: Actor, host: string): Promise<HostBlockPreview> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const name = parseHostName(host);
  const clients = await findClientsUnder(db(), name);
  const { rows } = await pool().query<{ users: number }>(
    "SELECT count(DISTINCT user_id)::int AS users FROM oauth_consent WHERE client_id = ANY ($1) AND revoked_at IS NULL",
    [clients.map(({ clientId }) => clientId)],
  );
  return { host: name, clients, userCount: rows[0]?.users ?? 0 };
}

type ClientUnderHost = { clientId: string; name: string };

async function findClientsUnder(tx: Db, host: string): Promise<ClientUnderHost[]> {
  const subdomain = `.${host}`;
  const below = (await tx.oAuthClientHost.findMany({ where: { host: { endsWith: subdomain } } })) as HostRule[];
  const rules: HostRule[] = [{ host, rule: "block" }, ...below];
  const documents = await tx.oAuthClientDocument.findMany({
    where: { clientId: { contains: host } },
    select: { clientId: true, metadata: true },
  });
  return documents
    .filter(({ clientId }) => {
      const hostname = hostnameOf(clientId);
      return (hostname === host || hostname.endsWith(subdomain)) && !decideHost(hostname, rules, "open").isAllowed;
    })
    .map(({ clientId, metadata }) => ({ clientId, name: (metadata as { client_name: string }).client_name }));
}
