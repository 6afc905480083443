import pg from "pg";

/** The service's role and its database. */
export const ROLE = "keyhook";

/**
 * Makes the service's role and database, unless they exist. The role is no superuser: whoever got to run SQL through the
 * service could not read files or start programs with it.
 */
export async function prepareDatabase(superuserUrl: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ hasRole: boolean; hasDatabase: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as "hasRole",
              exists (select from pg_database where datname = $1) as "hasDatabase"`,
      [ROLE],
    );
    const found = rows[0];
    if (!found?.hasRole) await client.query(`create role ${ROLE} login password ${client.escapeLiteral(password)}`);
    if (!found?.hasDatabase) await client.query(`create database ${ROLE} owner ${ROLE}`);
  } finally {
    await client.end();
  }
}
