import { pool } from "#core/db.ts";
import type { AccountRow, GrantedOrganization } from "./request-rows.ts";

export type Member = AccountRow & { organizations: GrantedOrganization[] };

const READ = `SELECT u.id, u.username, u.full_name AS "fullName", u.email, u.email_verified_at IS NOT NULL AS "isEmailVerified",
    u.website, (SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'fullName', o.full_name,
        'plan', o.plan, 'role', m.role, 'restrictions', m.restrictions) ORDER BY o.name), '[]')
      FROM member_standing m JOIN organization o ON o.id = m.org_id WHERE m.user_id = u.id) AS organizations
  FROM "user" u WHERE u.id = $1 AND u.disabled_at IS NULL`;

/** A person with every organization that they are in: what a token of their own, which no app holds, may reach. */
export async function readMember(userId: string): Promise<Member | undefined> {
  const { rows } = await pool().query<Member>({ name: "member-read", text: READ, values: [userId] });
  return rows[0];
}
