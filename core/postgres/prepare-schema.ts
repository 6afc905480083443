import pg from "pg";
import { directDatabaseUrl, env, SettingsError } from "../env.ts";
import { grantToService } from "./grant-to-service.ts";
import { migrate } from "./migrate.ts";

type DatabaseUrls = {
  /** The URL must not be a pooler's, because migrations hold a lock of their session. */
  url: string;
  /** Absent if one role owns the tables and runs the service. */
  ownerUrl?: string | undefined;
  poolerUrl?: string | undefined;
};

export function databaseUrls(): DatabaseUrls {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATABASE_OWNER_URL } = env();
  return { url: directDatabaseUrl(), ownerUrl: DATABASE_OWNER_URL, poolerUrl: DATABASE_DIRECT_URL && DATABASE_URL };
}

export async function prepareSchema({ url, ownerUrl, poolerUrl }: DatabaseUrls): Promise<string[]> {
  if (poolerUrl) await requireSame(poolerUrl, url);
  if (!ownerUrl || ownerUrl === url) return migrate(url);
  const [service, owner] = [await identifyServer(url), await identifyServer(ownerUrl)];
  if (service.database !== owner.database || service.address !== owner.address)
    throw new SettingsError("DATABASE_OWNER_URL and DATABASE_URL must name the same database, with different roles.");
  const applied = await migrate(ownerUrl);
  if (service.role !== owner.role) await grantToService(ownerUrl, service.role);
  return applied;
}

/** If the databases differed, migrations would use one and requests the other. */
async function requireSame(poolerUrl: string, url: string): Promise<void> {
  const [pooled, direct] = [await identifyServer(poolerUrl), await identifyServer(url)];
  // A pooler may connect to another address of the server, so only names are compared.
  if (pooled.database !== direct.database || pooled.role !== direct.role)
    throw new SettingsError("DATABASE_DIRECT_URL and DATABASE_URL must name the same database and the same role.");
}

async function identifyServer(url: string): Promise<{ role: string; database: string; address: string }> {
  const client = new pg.Client({ connectionString: url, application_name: "keyhook migrate" });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: string; database: string; address: string }>(
      `select current_user as role, current_database() || ' ' || pg_postmaster_start_time() as database,
              coalesce(inet_server_addr()::text, 'local') || ' ' || coalesce(inet_server_port()::text, '') as address`,
    );
    return rows[0] as { role: string; database: string; address: string };
  } finally {
    await client.end();
  }
}
