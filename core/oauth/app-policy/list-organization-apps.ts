import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { type Page, type PageRequest, pageBounds } from "#core/accounts/page.ts";
import { type Db, db } from "#core/db.ts";
import { Prisma } from "#core/generated/prisma/client.ts";
import { inSearch } from "#core/postgres/in-search.ts";
import { type ClientRecord, findClientRecords } from "../clients/client-records.ts";
import type { AppDecision } from "./app-policy.ts";

export const organizationAppStates = ["waiting", "approved", "blocked", "undecided"] as const;
export type OrganizationAppState = (typeof organizationAppStates)[number];

type OrganizationAppSearch = PageRequest & {
  text?: string;
  state?: OrganizationAppState;
};

export type OrganizationApp = {
  clientId: string;
  name: string;
  /** Undefined if the app was deleted and only the decision about it remains. */
  record: ClientRecord | undefined;
  decision: AppDecision | null;
  isAdmitted: boolean;
  isBound: boolean;
  memberCount: number;
  lastUsedAt: Date | null;
  requestCount: number;
  askedBy: string | null;
};

const PAGE_SIZE = 20;

const stateWhere: Record<OrganizationAppState, Prisma.Sql> = {
  waiting: Prisma.sql`"requestCount" > 0`,
  approved: Prisma.sql`decision = 'approved'`,
  blocked: Prisma.sql`decision = 'blocked'`,
  undecided: Prisma.sql`decision IS NULL`,
};

export async function listOrganizationApps(
  actor: Actor,
  orgId: string,
  { text = "", state, ...request }: OrganizationAppSearch = {},
): Promise<Page<OrganizationApp>> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { page, pageSize, skip, take } = pageBounds({ pageSize: PAGE_SIZE, ...request });
  const conditions = [Prisma.sql`TRUE`];
  const words = text.replaceAll("\0", "").trim().slice(0, 2000).toWellFormed();
  if (words) {
    const pattern = `%${words.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
    conditions.push(Prisma.sql`(lower(name) LIKE ${pattern} OR "clientId" = ${words})`);
  }
  if (state) conditions.push(stateWhere[state]);
  const read = (tx: Db) => tx.$queryRaw<(Omit<OrganizationApp, "record"> & { total: number })[]>`
    WITH granted AS (
      SELECT c.client_id, count(*)::int AS members, max(c.last_used_at) AS last_used_at
      FROM membership m JOIN oauth_consent c ON c.user_id = m.user_id AND c.revoked_at IS NULL
        AND (c.is_all_orgs OR m.org_id = ANY (c.org_ids))
      WHERE m.org_id = ${orgId} GROUP BY c.client_id
    ), asked AS (
      SELECT r.client_id, count(*)::int AS requests, (array_agg(u.username ORDER BY r.created_at))[1] AS asked_by
      FROM organization_app_request r JOIN "user" u ON u.id = r.user_id WHERE r.org_id = ${orgId} GROUP BY r.client_id
    ), known AS (
      SELECT client_id FROM granted UNION SELECT client_id FROM asked
      UNION SELECT client_id FROM organization_app WHERE org_id = ${orgId}
      UNION SELECT client_id FROM oauth_app WHERE bound_org_id = ${orgId}
    ), apps AS (
      SELECT k.client_id AS "clientId", coalesce(a.name, d.metadata ->> 'client_name', k.client_id) AS name, s.decision,
        is_app_admitted(${orgId}, k.client_id) AS "isAdmitted", coalesce(a.bound_org_id = ${orgId}, false) AS "isBound",
        coalesce(g.members, 0) AS "memberCount", g.last_used_at AS "lastUsedAt", coalesce(q.requests, 0) AS "requestCount",
        q.asked_by AS "askedBy"
      FROM known k LEFT JOIN granted g USING (client_id) LEFT JOIN asked q USING (client_id)
      LEFT JOIN organization_app s ON s.org_id = ${orgId} AND s.client_id = k.client_id
      LEFT JOIN oauth_app a ON a.client_id = k.client_id
      LEFT JOIN oauth_client_document d ON d.client_id = k.client_id
    )
    SELECT *, (count(*) OVER ())::int AS total FROM apps WHERE ${Prisma.join(conditions, " AND ")}
    ORDER BY "requestCount" > 0 DESC, lower(name), "clientId" LIMIT ${take} OFFSET ${skip}`;
  const rows = await (words ? inSearch(read) : read(db()));
  const records = await findClientRecords(rows.map(({ clientId }) => clientId));
  const items = rows.map(({ total: _total, ...row }) => ({ ...row, record: records.get(row.clientId) }));
  return { items, page, pageSize, total: rows[0]?.total ?? 0 };
}
