import pg from "pg";

/** Owns the database and its tables, and migrates them; no process that answers requests connects as this role. */
export const OWNER_ROLE = "keyhook";
/** The role of the web process and the worker. */
export const SERVICE_ROLE = "keyhook_service";

export const DATABASE = "keyhook";

/**
 * Creates the two roles and the database, unless they exist. Neither role is a superuser: an attacker who runs SQL through the service
 * cannot read files or start programs with it, nor change the append-only tables (grant-to-service.ts).
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
    // Its password is in a separate file, which a restored backup may lack.
    const verb = roles.has(SERVICE_ROLE) ? "alter" : "create";
    await client.query(`${verb} role ${SERVICE_ROLE} ${login(passwords.service)}`);
    if (!rows[0]?.hasDatabase) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
}
