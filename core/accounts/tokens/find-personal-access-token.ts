import type { Scope } from "@keyhook/sdk";
import { hashToken } from "../../crypto/token.ts";
import { pool } from "../../db.ts";

export type PersonalAccessToken = {
  id: string;
  userId: string;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
};

// As with sessions: one write a minute at most for each token.
const LAST_USED_RESOLUTION_SECONDS = 60;

/** The token that a request carries; undefined when it is unknown, revoked or expired, or its user is disabled (S112). */
export async function findPersonalAccessToken(token: string): Promise<PersonalAccessToken | undefined> {
  const { rows } = await pool().query<PersonalAccessToken & { isUsedLongAgo: boolean }>({
    name: "find-personal-access-token",
    text: `SELECT t.id, t.user_id AS "userId", t.name, t.scopes, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
                  (t.last_used_at IS NULL OR t.last_used_at < now() - make_interval(secs => $2)) AS "isUsedLongAgo"
             FROM personal_access_token t JOIN "user" u ON u.id = t.user_id
            WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
              AND u.disabled_at IS NULL`,
    values: [hashToken(token), LAST_USED_RESOLUTION_SECONDS],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { isUsedLongAgo, ...found } = row;
  if (isUsedLongAgo) await pool().query("UPDATE personal_access_token SET last_used_at = now() WHERE id = $1", [found.id]);
  return found;
}
