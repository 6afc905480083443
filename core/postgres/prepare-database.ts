import pg from "pg";

/** Owns the database and its tables, and migrates them; nothing that answers requests connects as it. */
export const OWNER_ROLE = "keyhook";
/** What the web process and the worker connect as. */
export const SERVICE_ROLE = "keyhook_service";

export const DATABASE = "keyhook";

/**
 * Makes the two roles and the database, unless they exist. Neither role is a superuser: whoever got to run SQL through the service
 * could not read files or start programs with it, nor change what the service only adds to (grant-to-service.ts).
 */
export async function prepareDatabase(
  superuserUrl: string,
  passwords: Readonly<{ owner: string; service: string }>,
): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ roles: string[]; hasDatabase: boolean }>(
      `select array(select rolname::text from pg_roles) as roles,
              exists (select from pg_database where datname = $1) as "hasDatabase"`,
      [DATABASE],
    );
    const roles = new Set(rows[0]?.roles);
    const login = (password: string) => `login password ${client.escapeLiteral(password)}`;
    if (!roles.has(OWNER_ROLE)) await client.query(`create role ${OWNER_ROLE} ${login(passwords.owner)}`);
    // Its password is in a file of its own, which a restored backup may lack.
    const verb = roles.has(SERVICE_ROLE) ? "alter" : "create";
    await client.query(`${verb} role ${SERVICE_ROLE} ${login(passwords.service)}`);
    if (!rows[0]?.hasDatabase) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
}
