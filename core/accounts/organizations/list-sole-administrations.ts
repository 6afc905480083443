import { db } from "../../db.ts";

const MAX = 20;

/** The organizations that would have no administrator without this user; the first of them, by name. */
export async function listSoleAdministrations(userId: string): Promise<{ name: string; fullName: string }[]> {
  return db().$queryRaw`
    SELECT o.name, o.full_name AS "fullName" FROM membership m JOIN organization o ON o.id = m.org_id
    WHERE m.user_id = ${userId} AND m.role = 'admin'
      AND NOT EXISTS (SELECT FROM membership other JOIN "user" u ON u.id = other.user_id
        WHERE other.org_id = m.org_id AND other.role = 'admin' AND other.user_id <> m.user_id AND u.disabled_at IS NULL)
    ORDER BY o.name LIMIT ${MAX}`;
}
