import { closeConnections } from "../db.ts";
import { provideSettings } from "../env.ts";
import { loadSigningKeys } from "../oauth/signing-keys.ts";
import { grantToService } from "../postgres/grant-to-service.ts";
import { migrate } from "../postgres/migrate.ts";
import { databaseUrlOf, execute, recreateDatabase, SERVICE_PASSWORD, SERVICE_ROLE } from "./database.ts";
import { SECRET_KEY } from "./secret-key.ts";

export async function createTemplate(serverUrl: string, name: string): Promise<void> {
  await recreateDatabase(serverUrl, name);
  const template = databaseUrlOf(serverUrl, name);
  await migrate(template);
  await makeServiceRole(serverUrl);
  await grantToService(template, SERVICE_ROLE);
  await addSigningKeys(template);
}

/** Without this step, each of a hundred files would create the keys. */
async function addSigningKeys(databaseUrl: string): Promise<void> {
  const { DATABASE_URL = "", SECRET_KEY: given = "" } = process.env;
  provideSettings({ DATABASE_URL: databaseUrl, SECRET_KEY });
  await loadSigningKeys();
  // PostgreSQL does not copy a database that has connections.
  await closeConnections();
  provideSettings({ DATABASE_URL, SECRET_KEY: given });
}

async function makeServiceRole(serverUrl: string): Promise<void> {
  await execute(
    serverUrl,
    `do $$ begin
       create role ${SERVICE_ROLE} login password '${SERVICE_PASSWORD}';
     exception when duplicate_object or unique_violation then null; end $$`,
  );
}
