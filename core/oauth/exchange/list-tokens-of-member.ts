import { db } from "#core/db.ts";

/** What an organization's app holds for one of its members, who were not asked and can only see it. */
export type ExchangedAccess = {
  clientId: string;
  name: string;
  logoId: string | null;
  organization: { name: string; fullName: string };
  /** Those of the last token. */
  scopes: string[];
  tokenCount: number;
  lastIssuedAt: Date;
  /** When the last of them expires. */
  endsAt: Date;
};

const APPS_MAX = 50;

/**
 * The apps that currently hold exchanged tokens for a user, by organization. It is found through the memberships, by the index on both, so
 * it reads only this user's tokens.
 */
export async function listTokensOfMember(userId: string): Promise<ExchangedAccess[]> {
  return db().$queryRaw<ExchangedAccess[]>`
    SELECT t.client_id AS "clientId", a.name, a.logo_id AS "logoId", json_build_object('name', o.name, 'fullName', o.full_name) AS organization,
      t.scopes, t.count AS "tokenCount", t.last_issued_at AS "lastIssuedAt", t.ends_at AS "endsAt"
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
