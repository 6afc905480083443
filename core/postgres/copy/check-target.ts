import type pg from "pg";
import { DatabaseCopyError } from "./database-copy-error.ts";

const OLDEST_VERSION = 150_000;

type Found = {
  version: number;
  versionName: string;
  encoding: string;
  isReadOnly: boolean;
  schema: string | null;
  mayCreate: boolean | null;
  role: string;
  database: string;
  things: string[];
};

/**
 * Checks that a database can take over all data: new enough, writable, empty, and its role may create tables there.
 * @throws {DatabaseCopyError} that says what to do
 */
export async function checkTarget(target: pg.Client): Promise<void> {
  const { rows } = await target.query<Found>(`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionName",
           current_setting('server_encoding') as encoding,
           pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
           current_schema()::text as schema, has_schema_privilege(current_schema(), 'CREATE') as "mayCreate",
           current_user::text as role, current_database()::text as database,
           array(select c.relname::text from pg_class c
                  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
                    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
                  order by 1 limit 4) as things`);
  const { version, versionName, encoding, isReadOnly, schema, mayCreate, role, database, things } = rows[0] as Found;
  const problem = (sentence: string) => new DatabaseCopyError(`--to: ${sentence}`);
  if (version < OLDEST_VERSION) throw problem(`PostgreSQL 15 or later is needed, and this is ${versionName}.`);
  if (encoding !== "UTF8")
    throw problem(`the database ${database} is encoded as ${encoding}. Make one with \`create database … encoding 'UTF8'\`.`);
  if (isReadOnly) throw problem("this server takes no changes: it is a replica, or read-only. Name its primary.");
  if (schema === null || !mayCreate)
    throw problem(`the role ${role} may make no tables in ${database}. Run \`alter database "${database}" owner to "${role}"\`.`);
  if (things.length > 0)
    throw problem(
      `the database ${database} is not empty: it has ${things.slice(0, 3).join(", ")}${things.length > 3 ? " and more" : ""}. ` +
        "Name an empty one.",
    );
}
