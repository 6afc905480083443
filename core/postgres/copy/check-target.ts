import pg from "pg";
import { isPooled } from "../migrate.ts";

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
  objects: string[];
};

export async function checkTarget(target: pg.Client, name = "--to"): Promise<void> {
  const { rows } = await target.query<Found>(`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionName",
           current_setting('server_encoding') as encoding,
           pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
           current_schema()::text as schema, has_schema_privilege(current_schema(), 'CREATE') as "mayCreate",
           current_user::text as role, current_database()::text as database,
           array(select c.relname::text from pg_class c
                  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
                    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
                  order by 1 limit 4) as objects`);
  const { version, versionName, encoding, isReadOnly, schema, mayCreate, role, database, objects } = rows[0] as Found;
  const problem = (sentence: string) => new DatabaseCopyError(`${name}: ${sentence}`);
  if (version < OLDEST_VERSION) throw problem(`PostgreSQL 15 or later is required, and this is ${versionName}.`);
  if (encoding !== "UTF8")
    throw problem(
      `the database ${database} has the encoding ${encoding}. Create one with \`create database … encoding 'UTF8' template template0\`.`,
    );
  if (isReadOnly) throw problem("this server accepts no changes: it is a replica or read-only. Use its primary.");
  if (schema === null || !mayCreate)
    throw problem(
      `the role ${role} cannot create tables in ${database}. Run \`alter database "${database}" owner to "${role}"\`.`,
    );
  if (objects.length > 0)
    throw problem(
      `the database ${database} is not empty: it has ${objects.slice(0, 3).join(", ")}${objects.length > 3 ? " and more" : ""}. ` +
        "Use an empty one.",
    );
}

/** With these settings, both servers write a value as the same text. */
const SESSION = `set client_encoding to 'UTF8'; set datestyle to 'ISO, MDY'; set intervalstyle to 'postgres'; set timezone to 'UTC';
  set extra_float_digits to 3; set bytea_output to 'hex'; set statement_timeout to 0; set lock_timeout to 0;
  set idle_in_transaction_session_timeout to 0`;

const THROUGH_POOLER = "leads to a pooler, which does not keep a session's settings. Use the URL of the database server itself.";

export const COPY_APPLICATION = "keyhook copy";

export async function connect(name: string, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: COPY_APPLICATION, connectionTimeoutMillis: 10_000 });
  // A broken connection makes the next statement fail.
  client.on("error", () => undefined);
  try {
    await client.connect();
    if (await isPooled(client)) throw new DatabaseCopyError(`${name} ${THROUGH_POOLER}`);
    await client.query(SESSION);
    return client;
  } catch (cause) {
    await client.end().catch(() => undefined);
    if (cause instanceof DatabaseCopyError) throw cause;
    throw new DatabaseCopyError(`${name} cannot be reached: ${(cause as Error).message}`, { cause });
  }
}

/** The message is for the operator's terminal. */
export class DatabaseCopyError extends Error {
  override name = "DatabaseCopyError";
}
