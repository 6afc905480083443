import pg from "pg";
import { SettingsError } from "../env.ts";
import { grantToService } from "./grant-to-service.ts";
import { migrate } from "./migrate.ts";

export type DatabaseUrls = {
  /** For the service's connections. */
  url: string;
  /** For creating and upgrading tables; absent if one role does both. */
  ownerUrl?: string | undefined;
};

/**
 * Brings a database to this version's schema, and grants the service's role its rights.
 * @returns the names of the applied migrations
 * @throws {MigrationError}; {SettingsError} if the two URLs lead to different databases
 */
export async function prepareSchema({ url, ownerUrl }: DatabaseUrls): Promise<string[]> {
  if (!ownerUrl || ownerUrl === url) return migrate(url);
  const [service, owner] = [await askWho(url), await askWho(ownerUrl)];
  if (service.database !== owner.database)
    throw new SettingsError("DATABASE_OWNER_URL and DATABASE_URL must name the same database, as two roles.");
  const applied = await migrate(ownerUrl);
  if (service.role !== owner.role) await grantToService(ownerUrl, service.role);
  return applied;
}

async function askWho(url: string): Promise<{ role: string; database: string }> {
  const client = new pg.Client({ connectionString: url, application_name: "keyhook migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: string; database: string }>(
      `select current_user as role,
              current_database() || ' ' || coalesce(inet_server_addr()::text, 'local') || ' ' || coalesce(inet_server_port()::text, '') ||
                ' ' || pg_postmaster_start_time() as database`,
    );
    return rows[0] as { role: string; database: string };
  } finally {
    await client.end();
  }
}
