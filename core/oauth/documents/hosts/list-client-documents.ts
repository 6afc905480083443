import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { plainText } from "#core/accounts/plain-text.ts";
import { db, pool } from "#core/db.ts";
import { countUsers } from "../../apps/list-apps.ts";
import { hostnameOf } from "../document-address.ts";
import { decideHost, type HostDecision, type HostRule, readDocumentPolicy } from "./document-policy.ts";
import { namesCovering } from "./host-name.ts";

export type ListedClientDocument = {
  clientId: string;
  host: string;
  hostname: string;
  name: string;
  logoId: string | null;
  homepageUrl: string | null;
  firstSeenAt: Date;
  lastSeenAt: Date;
  changedAt: Date | null;
  userCount: number;
  hostDecision: HostDecision;
};

const SEARCH_MAX_CHARACTERS = 200;

type Row = Pick<
  ListedClientDocument,
  "clientId" | "host" | "name" | "logoId" | "homepageUrl" | "firstSeenAt" | "lastSeenAt" | "changedAt"
>;

const MATCHES = "$1 = '' OR client_id ILIKE $1 OR metadata ->> 'client_name' ILIKE $1";

const LIST = `SELECT client_id AS "clientId", host, metadata ->> 'client_name' AS name, logo_id AS "logoId",
    metadata ->> 'client_uri' AS "homepageUrl", first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt",
    changed_at AS "changedAt"
  FROM oauth_client_document WHERE ${MATCHES} ORDER BY last_seen_at DESC, client_id LIMIT $2 OFFSET $3`;

/** @param search a part of the URL or the name, in any case */
export async function listClientDocuments(
  actor: Actor,
  { search = "", ...request }: PageRequest & { search?: string } = {},
): Promise<Page<ListedClientDocument>> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const { page, pageSize, skip, take } = pageBounds(request);
  const words = plainText("search", search, SEARCH_MAX_CHARACTERS).trim();
  const pattern = words && `%${words.replace(/[\\%_]/g, "\\$&")}%`;
  const [counted, { rows }, { policy }] = await Promise.all([
    pool().query<{ total: number }>(`SELECT count(*)::int AS total FROM oauth_client_document WHERE ${MATCHES}`, [pattern]),
    pool().query<Row>(LIST, [pattern, take, skip]),
    readDocumentPolicy(),
  ]);
  const names = rows.flatMap(({ clientId }) => namesCovering(hostnameOf(clientId)));
  const [rules, users] = await Promise.all([
    db().oAuthClientHost.findMany({ where: { host: { in: names } }, select: { host: true, rule: true } }),
    countUsers(rows.map(({ clientId }) => clientId)),
  ]);
  const items = rows.map((row) => {
    const hostname = hostnameOf(row.clientId);
    const hostDecision = decideHost(hostname, rules as HostRule[], policy);
    return { ...row, hostname, userCount: users.get(row.clientId) ?? 0, hostDecision };
  });
  return { items, page, pageSize, total: counted.rows[0]?.total ?? 0 };
}
