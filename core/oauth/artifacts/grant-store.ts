import type { Grant } from "oidc-provider";
import { type Db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { GRANT_SECONDS, UNUSED_GRANT_SECONDS } from "../lifetimes.ts";
import type { Payload } from "./artifact-store.ts";
import { requestRows } from "./request-rows.ts";

/* The engine's Grants, in their own table, each with the consent that it comes from. */

/** The member of a Grant's payload with the redirect URI to which its code was sent (S86). */
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

/** The maximum number of a user's Grants for one client: of those with tokens, and of those without. */
const KEPT = 200;
/** The number of newest Grants that stay: a new sign-in without refresh tokens may expire before older ones with them. */
const KEPT_NEWEST = 20;
/** The maximum number of a user's Grants for all clients together: anybody can have any number of clients. */
const KEPT_IN_ALL = 2_000;

/**
 * Deletes Grants beyond the limits: revoked ones first, then those that expire first, whose tokens were used longest ago. An app that the
 * user has allowed gets a Grant with each redirect, without a question (S143). Grants of a revoked consent count too: otherwise a user
 * could revoke it, allow the app again, and so get as many more. Housekeeping deletes the Grants of a revoked consent an hour after the
 * revocation (core/housekeeping/sweeps.ts).
 */
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

/**
 * Stores a Grant with the organizations that the user's consent contains now. A Grant is written once and never widened (S48). Without a
 * live consent that covers it, nothing is written and the engine finds no Grant. The lock on the consent makes sure that a user who narrows
 * or revokes it at the same moment has the last word.
 */
export async function saveGrant(id: string, payload: Payload): Promise<void> {
  const { jti: _jti, ...stored } = payload;
  const values = [id, payload.accountId, payload.clientId, JSON.stringify(stored)];
  const { rowCount } = await pool().query({ name: "grant-save", text: SAVE, values });
  if (!rowCount) return;
  requestRows().grants.set(id, stored);
  await pool().query({ name: "grant-drop-oldest", text: DROP_OLDEST, values: [id] });
}

/**
 * Stores a new Grant in the transaction that stores the consent: both or neither.
 * @param authTime when the user authenticated, in seconds since 1970: what the Grant's tokens may do can depend on it (S113).
 * @returns its ID.
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

/** Revokes a Grant: everything issued under it becomes invalid, even tokens that a request is just issuing (S43, S105). */
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
