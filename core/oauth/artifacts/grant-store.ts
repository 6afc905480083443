import type { Grant } from "oidc-provider";
import { type Db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { GRANT_SECONDS, UNUSED_GRANT_SECONDS } from "../lifetimes.ts";
import type { Payload } from "./artifact-store.ts";
import { requestRows } from "./request-rows.ts";

/** The redirect URI to which the code was sent (S86). */
export const GRANT_REDIRECT_URI = "redirectUri";

export async function findGrant(id: string): Promise<Payload | undefined> {
  const known = requestRows().grants.get(id);
  if (known) return { ...known, jti: id };
  const { rows } = await pool().query<{ payload: Payload }>({
    name: "grant-find",
    text: `SELECT g.payload FROM oauth_grant g LEFT JOIN oauth_consent c ON c.id = g.consent_id
      WHERE g.id = $1 AND g.revoked_at IS NULL AND c.revoked_at IS NULL`,
    values: [id],
  });
  return rows[0] && { ...rows[0].payload, jti: id };
}

const SAVE = `INSERT INTO oauth_grant (id, consent_id, user_id, client_id, payload, org_ids, is_all_orgs, expires_at)
  SELECT $1, c.id, c.user_id, c.client_id, $4, c.org_ids, c.is_all_orgs, now() + interval '${UNUSED_GRANT_SECONDS} seconds'
    FROM oauth_consent c WHERE c.user_id = $2 AND c.client_id = $3 AND c.revoked_at IS NULL
      AND string_to_array(coalesce($4::jsonb #>> '{openid,scope}', ''), ' ') <@ c.scopes
    FOR SHARE OF c
  ON CONFLICT (id) DO NOTHING`;

/** The limit of one user's Grants for one client. It applies separately to Grants with and without tokens. */
const KEPT = 200;
/** The newest Grants stay even if they expire first: a new sign-in without refresh tokens expires soon. */
const KEPT_NEWEST = 20;
const KEPT_IN_ALL = 2_000;

/** An allowed app gets a Grant with each redirect, without a question (S143). Grants of revoked consents count too. */
const DROP_OLDEST = `DELETE FROM oauth_grant WHERE id IN (SELECT id FROM oauth_grant WHERE id = ANY (ARRAY (
    SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY is_unused
        ORDER BY is_live DESC, age <= ${KEPT_NEWEST} DESC, expires_at DESC, created_at DESC) AS rank
      FROM (SELECT *, row_number() OVER (PARTITION BY is_unused ORDER BY is_live DESC, created_at DESC) AS age
        FROM (SELECT g.id, g.created_at, g.expires_at, g.revoked_at IS NULL AND c.revoked_at IS NULL AS is_live,
            g.expires_at <= g.created_at + interval '${UNUSED_GRANT_SECONDS} seconds' AS is_unused
          FROM oauth_consent mine JOIN oauth_consent c ON c.user_id = mine.user_id AND c.client_id = mine.client_id
            JOIN oauth_grant g ON g.consent_id = c.id
          WHERE mine.id = (SELECT consent_id FROM oauth_grant WHERE id = $1)
            AND (c.revoked_at IS NULL OR c.revoked_at > now() - interval '2 hours')) AS own) AS aged) AS ranked
    WHERE rank > ${KEPT}
    UNION ALL (SELECT id FROM oauth_grant WHERE user_id = (SELECT user_id FROM oauth_grant WHERE id = $1) AND consent_id IS NOT NULL
      ORDER BY id = $1 DESC, revoked_at IS NULL DESC, expires_at DESC, created_at DESC OFFSET ${KEPT_IN_ALL})))
  FOR UPDATE SKIP LOCKED)`;

/** A Grant is never widened (S48). With the lock, a user who revokes the consent at the same moment wins. */
export async function saveGrant(id: string, payload: Payload): Promise<void> {
  const { jti: _jti, ...stored } = payload;
  const values = [id, payload.accountId, payload.clientId, JSON.stringify(stored)];
  const { rowCount } = await pool().query({ name: "grant-save", text: SAVE, values });
  if (!rowCount) return;
  requestRows().grants.set(id, stored);
  await pool().query({ name: "grant-drop-oldest", text: DROP_OLDEST, values: [id] });
}

/**
 * Call this in the transaction that stores the consent.
 * @param authTime in seconds since 1970 (S113)
 */
export async function insertGrant(
  tx: Db,
  grant: Grant & { [GRANT_REDIRECT_URI]?: string },
  { authTime }: { authTime?: number } = {},
): Promise<string> {
  const { accountId, clientId, openid, rejected, [GRANT_REDIRECT_URI]: redirectUri } = grant;
  const id = newId();
  const iat = Math.floor(Date.now() / 1000);
  const engines = { iat, exp: iat + GRANT_SECONDS, kind: "Grant", accountId, clientId, openid, rejected };
  const payload = { ...engines, [GRANT_REDIRECT_URI]: redirectUri, authTime };
  await tx.$executeRawUnsafe(SAVE, id, accountId, clientId, JSON.stringify(payload));
  await tx.$executeRawUnsafe(DROP_OLDEST, id);
  return id;
}

/** Tokens that the current request issues become invalid too (S43, S105). */
export async function revokeGrant(id: string): Promise<void> {
  const { revokedGrants, grants } = requestRows();
  if (revokedGrants.has(id)) return;
  revokedGrants.add(id);
  grants.delete(id);
  await pool().query({
    name: "grant-revoke",
    text: "UPDATE oauth_grant SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL",
    values: [id],
  });
}
