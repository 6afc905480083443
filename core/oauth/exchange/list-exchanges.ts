import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { db } from "#core/db.ts";
import type { OAuthApp } from "#core/generated/prisma/client.ts";
import { boundAuthority } from "../apps/change-app.ts";

export type RecentExchange = {
  id: string;
  at: Date;
  isRefused: boolean;
  subject: string;
  scopes: string[];
  reason: string | null;
  ip: string | null;
};

const RECENT_EXCHANGES = 8;

type Data = { subject?: string; scopes?: string[]; reason?: string };

export async function listRecentExchanges(
  actor: Actor,
  { clientId, boundOrgId }: Pick<OAuthApp, "clientId" | "boundOrgId">,
): Promise<RecentExchange[]> {
  if (!boundOrgId) return [];
  await requirePermission(actor, "oauth_app.read", boundAuthority(boundOrgId), { what: "Organization" });
  const events = await db().auditEvent.findMany({
    where: { orgId: boundOrgId, type: { in: ["oauth_token.exchange", "oauth_token.exchange_refused"] }, clientId },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: RECENT_EXCHANGES,
  });
  return events.map(({ id, createdAt, type, data, ip }) => {
    const { subject = "", scopes = [], reason = null } = data as Data;
    return { id, at: createdAt, isRefused: type !== "oauth_token.exchange", subject, scopes, reason, ip };
  });
}

/** An app's access for a member who was not asked for consent. */
export type ExchangedAccess = {
  clientId: string;
  name: string;
  logoId: string | null;
  organization: { name: string; fullName: string };
  scopes: string[];
  tokenCount: number;
  lastIssuedAt: Date;
  endsAt: Date;
};

const APPS_MAX = 50;

export async function listTokensOfMember(userId: string): Promise<ExchangedAccess[]> {
  return db().$queryRaw<ExchangedAccess[]>`
    SELECT t.client_id AS "clientId", a.name, a.logo_id AS "logoId", json_build_object('name', o.name, 'fullName', o.full_name) AS organization,
      ARRAY(SELECT s FROM unnest(t.scopes) s WHERE s = ANY (a.scopes)) AS scopes, t.count AS "tokenCount", t.last_issued_at AS "lastIssuedAt", t.ends_at AS "endsAt"
    FROM (
      SELECT g.client_id, g.bound_org_id, count(*)::int AS count, max(g.created_at) AS last_issued_at, max(g.expires_at) AS ends_at,
        string_to_array((array_agg(coalesce(g.payload #>> '{openid,scope}', '') ORDER BY g.created_at DESC))[1], ' ') AS scopes
      FROM membership m JOIN oauth_grant g ON g.bound_org_id = m.org_id AND g.user_id = m.user_id
      WHERE m.user_id = ${userId} AND g.revoked_at IS NULL AND g.expires_at > now() AND g.consent_id IS NULL
      GROUP BY g.client_id, g.bound_org_id
    ) t
    JOIN oauth_app a ON a.client_id = t.client_id AND a.bound_org_id = t.bound_org_id AND a.blocked_at IS NULL
    JOIN organization o ON o.id = t.bound_org_id
    ORDER BY t.last_issued_at DESC, t.client_id LIMIT ${APPS_MAX}`;
}
