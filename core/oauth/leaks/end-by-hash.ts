import type { Db } from "#core/db.ts";

export type LeakedCredential = {
  kind: "personal" | "oauth" | "ci" | "client_secret";
  hash: string;
  /** Of a personal or CI token, of an OAuth token's Grant, or of a client secret. */
  id: string;
  /** The user for whom it acted, or who owns its repository or app; null if an organization does. */
  userId: string | null;
  clientId: string | null;
  /** The organization whose administrators should know. */
  orgId: string | null;
  /** Its owner's name for it, or the job that it was for. */
  name: string | null;
};

/**
 * Ends the credentials found by these hashes: a personal or CI token itself, an OAuth token with everything issued under its Grant. An
 * app's secret stays valid, since otherwise any stranger could lock out all its users; the app's managers are told to rotate it.
 * @returns what was live until now; a statement for each kind, whatever was asked
 */
export async function endByHash(tx: Db, hashes: string[]): Promise<LeakedCredential[]> {
  const personal = await tx.$queryRaw<LeakedCredential[]>`
    UPDATE personal_access_token SET revoked_at = now()
     WHERE token_hash = ANY (${hashes}) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    RETURNING 'personal' AS kind, token_hash AS hash, id, user_id AS "userId", NULL AS "clientId", NULL AS "orgId", name`;
  // A used refresh token still proves that its family has leaked (S47); an expired access token proves nothing.
  const oauth = await tx.$queryRaw<LeakedCredential[]>`
    WITH found AS (
      SELECT DISTINCT ON (grant_id) grant_id, id_hash FROM oauth_artifact
       WHERE model IN ('AccessToken', 'RefreshToken') AND id_hash = ANY (${hashes}) AND expires_at > now() AND grant_id IS NOT NULL
    )
    UPDATE oauth_grant g SET revoked_at = now() FROM found WHERE g.id = found.grant_id AND g.revoked_at IS NULL
    RETURNING 'oauth' AS kind, found.id_hash AS hash, g.id, g.user_id AS "userId", g.client_id AS "clientId",
              g.bound_org_id AS "orgId", NULL AS name`;
  const ci = await tx.$queryRaw<LeakedCredential[]>`
    UPDATE ci_token t SET revoked_at = now()
     WHERE t.token_hash = ANY (${hashes}) AND t.revoked_at IS NULL AND t.expires_at > now()
    RETURNING 'ci' AS kind, t.token_hash AS hash, t.id,
              coalesce(t.user_id, (SELECT r.owner_id FROM repo r WHERE r.id = t.repo_id AND r.owner_kind = 'user')) AS "userId", NULL AS "clientId",
              (SELECT r.owner_id FROM repo r WHERE r.id = t.repo_id AND r.owner_kind = 'organization') AS "orgId",
              t.description AS name`;
  // A secret that stays valid could be reported again and again: one letter per day is sent.
  const secrets = await tx.$queryRaw<LeakedCredential[]>`
    WITH live AS (
      SELECT 'client_secret' AS kind, s.secret_hash AS hash, s.id, a.owner_user_id AS "userId", a.client_id AS "clientId",
             coalesce(a.owner_org_id, a.bound_org_id) AS "orgId", NULL AS name
        FROM oauth_app_secret s JOIN oauth_app a ON a.id = s.app_id
       WHERE s.secret_hash = ANY (${hashes}) AND (s.expires_at IS NULL OR s.expires_at > now())
    ), untold AS (
      INSERT INTO throttle AS t (key, count, reset_at) SELECT 'leaked-secret:' || id, 1, now() + interval '1 day' FROM live ORDER BY id
      ON CONFLICT (key) DO UPDATE SET count = 1, reset_at = excluded.reset_at WHERE t.reset_at <= now()
      RETURNING key
    )
    SELECT live.* FROM live JOIN untold ON untold.key = 'leaked-secret:' || live.id`;
  return [...personal, ...oauth, ...ci, ...secrets];
}
