import { pool } from "../../db.ts";
import type { Owner } from "./find-owner.ts";

const RESULTS_MAX = 20;
// No handle is longer than this.
const HANDLE_MAX_CHARACTERS = 100;

/**
 * Users and organizations whose handle begins with a text, in the order of their handles: public data only. Disabled users are
 * left out. The index answers the range under any collation; `starts_with` is the exact condition.
 */
export async function searchHandles(
  prefix: string,
  { kind, limit = RESULTS_MAX }: { kind?: Owner["kind"]; limit?: number } = {},
): Promise<Pick<Owner, "kind" | "handle" | "fullName">[]> {
  const text = prefix.toLowerCase();
  if (text === "" || text.length > HANDLE_MAX_CHARACTERS || text.includes("\0")) return [];
  const { rows } = await pool().query<Pick<Owner, "kind" | "handle" | "fullName">>({
    name: "search-handles",
    text: `SELECT CASE WHEN h.user_id IS NULL THEN 'organization' ELSE 'user' END AS kind,
             coalesce(u.username, o.name) AS handle, coalesce(u.full_name, o.full_name) AS "fullName"
           FROM handle h
           LEFT JOIN "user" u ON u.id = h.user_id AND u.disabled_at IS NULL
           LEFT JOIN organization o ON o.id = h.org_id
           WHERE h.handle >= $1 AND h.handle <= $1 || repeat('z', ${HANDLE_MAX_CHARACTERS}) AND starts_with(h.handle, $1)
             AND coalesce(u.id, o.id) IS NOT NULL
             AND ($2::text IS NULL OR (h.user_id IS NULL) = ($2 = 'organization'))
           ORDER BY h.handle LIMIT $3`,
    values: [text, kind ?? null, Math.min(limit, RESULTS_MAX)],
  });
  return rows;
}
