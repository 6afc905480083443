import { hashToken } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { ACCOUNT_FIELDS, type TokenAccount } from "./account.ts";

/** See docs/specification/organizations-and-tokens.md#trusted-publishers. */
export type CiToken = {
  id: string;
  publisherId: string;
  /** Who trusted the publisher. For the operator's command, this is the repository's owner or the user as whom the job reads. */
  trustedById: string;
  preset: string;
  description: string;
  createdAt: Date;
  expiresAt: Date;
} & ({ repo: { id: string; type: string; fullName: string }; user: null } | { repo: null; user: TokenAccount });

// A token ends with its publisher, its repository and the account.
const find = (by: "token_hash" | "id") => `
  SELECT t.id, t.publisher_id AS "publisherId", coalesce(p.created_by_id, r.owner_id, t.user_id) AS "trustedById",
         p.preset, t.description, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
         CASE WHEN r.id IS NOT NULL THEN json_build_object('id', r.id, 'type', r.type,
           'fullName', coalesce(u.username, o.name) || '/' || r.name) END AS repo,
         CASE WHEN t.user_id IS NOT NULL THEN json_build_object(${ACCOUNT_FIELDS}) END AS "user"
    FROM ci_token t
    JOIN trusted_publisher p ON p.id = t.publisher_id
    LEFT JOIN repo r ON r.id = t.repo_id
    LEFT JOIN "user" u ON u.id = CASE WHEN t.user_id IS NOT NULL THEN t.user_id WHEN r.owner_kind = 'user' THEN r.owner_id END
    LEFT JOIN organization o ON r.owner_kind = 'organization' AND o.id = r.owner_id
   WHERE t.${by} = $1 AND t.revoked_at IS NULL AND t.expires_at > now()
     AND coalesce(r.id, t.user_id) IS NOT NULL AND coalesce(u.id, o.id) IS NOT NULL AND u.disabled_at IS NULL`;

/** @returns undefined also if the publisher, the repository or the account is gone or disabled (S99, S112) */
export async function findCiToken(token: string): Promise<CiToken | undefined> {
  const { rows } = await pool().query<CiToken>({ name: "find-ci-token", text: find("token_hash"), values: [hashToken(token)] });
  return rows[0];
}

export async function findCiTokenById(id: string): Promise<CiToken | undefined> {
  const { rows } = await pool().query<CiToken>({ name: "find-ci-token-by-id", text: find("id"), values: [id] });
  return rows[0];
}

/** The part after TOKEN_PREFIX (docs/specification/oauth.md#token-formats). */
export const ciTokenKinds = { repo: "jwt", user: "oauth" } as const;

const FOR_REPO = new RegExp(`^[A-Za-z][A-Za-z0-9]{0,9}_${ciTokenKinds.repo}_`);

export const looksLikeRepoToken = (token: string): boolean => FOR_REPO.test(token);
