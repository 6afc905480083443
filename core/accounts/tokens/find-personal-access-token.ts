import type { Scope } from "@keyhook/sdk";
import { hashToken } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { ACCOUNT_FIELDS, organizationsJson, type TokenAccount, type TokenOrganization } from "./account.ts";

type PersonalAccessToken = {
  id: string;
  userId: string;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  account: TokenAccount & { organizations: TokenOrganization[] };
};

const LAST_USED_RESOLUTION_SECONDS = 60;

const FIND = `
  SELECT t.id, t.user_id AS "userId", t.name, t.scopes, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
         (t.last_used_at IS NULL OR t.last_used_at < now() - make_interval(secs => $2)) AS "isUsedLongAgo",
         json_build_object(${ACCOUNT_FIELDS}, 'organizations', (
           SELECT ${organizationsJson("t.id")}
             FROM member_standing m JOIN organization o ON o.id = m.org_id WHERE m.user_id = u.id)) AS account
    FROM personal_access_token t JOIN "user" u ON u.id = t.user_id
   WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.disabled_at IS NULL`;

/** @returns undefined also if the user is disabled (S112) */
export async function findPersonalAccessToken(token: string): Promise<PersonalAccessToken | undefined> {
  const { rows } = await pool().query<PersonalAccessToken & { isUsedLongAgo: boolean }>({
    name: "find-personal-access-token",
    text: FIND,
    values: [hashToken(token), LAST_USED_RESOLUTION_SECONDS],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { isUsedLongAgo, ...found } = row;
  if (isUsedLongAgo) await recordUse(found.id);
  return found;
}

async function recordUse(id: string): Promise<void> {
  await pool().query({
    name: "note-personal-access-token-used",
    text: "UPDATE personal_access_token SET last_used_at = now() WHERE id = $1",
    values: [id],
  });
}
