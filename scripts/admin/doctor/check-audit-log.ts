import { pool } from "#core/db.ts";
import { APPEND_ONLY_TABLES } from "#core/postgres/grant-to-service.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("audit log");

/** Whether the database keeps the service itself from changing the audit log, or its triggers alone do. */
export async function checkAuditLog(): Promise<Finding[]> {
  const { rows } = await pool().query<{ role: string; mayChange: boolean; waiting: number }>(
    `SELECT current_user AS role,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR EXISTS (
              SELECT 1 FROM unnest($1::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)
               WHERE pg_has_role(c.relowner, 'MEMBER') OR has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')) AS "mayChange",
            (SELECT count(*)::int FROM audit_unsealed u JOIN audit_event e ON e.id = u.event_id
              WHERE e.created_at < now() - interval '10 minutes') AS waiting`,
    [APPEND_ONLY_TABLES],
  );
  const { role, mayChange, waiting } = rows[0] ?? { role: "", mayChange: true, waiting: 0 };
  if (mayChange) {
    return [
      report.warn(
        `append-only by triggers, which the role "${role}" could switch off, since it owns the tables`,
        "Make a second role that may only log in, put it into DATABASE_URL, and the owner's into DATABASE_OWNER_URL (docs/guides/audit-log.md).",
      ),
    ];
  }
  if (waiting > 0) {
    return [report.warn(`${waiting} entries have waited ten minutes for their place in the chain`, "See the log of the worker.")];
  }
  return [report.ok(`append-only: the role "${role}" may add to it and nothing else`)];
}
