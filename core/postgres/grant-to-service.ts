import pg from "pg";

/** See S116. */
export const APPEND_ONLY_TABLES = ["audit_event", "audit_seal"] as const;

const MIGRATIONS_TABLE = "_prisma_migrations";

// The number is arbitrary, but no other lock of the service may use it.
const GRANT_LOCK = 5_407_229;

/** The function runs with the owner's rights, within fixed limits. */
const EXPIRE_FUNCTION = "expire_audit_events(integer, integer, text)";

/** The service owns no table, so it needs these functions for partitions. */
const PARTITION_FUNCTIONS = ["make_delivery_partitions(date, date)", "drop_delivery_partitions(date)"];

/** The service can neither alter the tables nor disable their triggers. */
export async function grantToService(ownerUrl: string, role: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: "keyhook migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ schema: string; database: string }>(
      "select current_schema() as schema, current_database() as database",
    );
    const [schema, database] = [rows[0]?.schema ?? "public", rows[0]?.database ?? ""].map(pg.escapeIdentifier);
    const service = pg.escapeIdentifier(role);
    const appendOnly = APPEND_ONLY_TABLES.map((table) => `${schema}.${table}`).join(", ");
    const functions = [EXPIRE_FUNCTION, ...PARTITION_FUNCTIONS].map((name) => `${schema}.${name}`).join(", ");
    const everything = `all tables in schema ${schema}`;
    // The grants are in one transaction, so that a running service always has its rights. The lock is needed because Postgres
    // rejects concurrent grants on the same table.
    await client.query(`begin;
      select pg_advisory_xact_lock(${GRANT_LOCK});
      grant connect on database ${database} to ${service};
      grant usage on schema ${schema} to ${service};
      revoke create on schema ${schema} from public;
      revoke create on schema ${schema} from ${service};
      grant select, insert, update, delete on ${everything} to ${service};
      revoke truncate, references, trigger on ${everything} from ${service};
      grant usage, select on all sequences in schema ${schema} to ${service};
      revoke all on ${appendOnly}, ${schema}.${MIGRATIONS_TABLE} from ${service};
      grant select, insert on ${appendOnly} to ${service};
      grant select on ${schema}.${MIGRATIONS_TABLE} to ${service};
      grant execute on function ${functions} to ${service};
      commit`);
  } finally {
    await client.end();
  }
}
