import { pool } from "../../db.ts";

/** The user of a session if it is still valid, for what was created in it and is used elsewhere, such as a URL. */
export async function findSessionPerson(
  sessionId: string,
  userId: string,
): Promise<{ id: string; userId: string; authenticatedAt: Date; user: { isOperator: boolean } } | undefined> {
  const { rows } = await pool().query<{ authenticatedAt: Date; isOperator: boolean }>({
    name: "find-session-person",
    text: `SELECT s.authenticated_at AS "authenticatedAt", u.is_operator AS "isOperator"
             FROM site_session s JOIN "user" u ON u.id = s.user_id
            WHERE s.id = $1 AND s.user_id = $2 AND s.ended_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
    values: [sessionId, userId],
  });
  const [row] = rows;
  return row && { id: sessionId, userId, authenticatedAt: row.authenticatedAt, user: { isOperator: row.isOperator } };
}
