import pg from "pg";
import { grantToService } from "../postgres/grant-to-service.ts";
import { migrate } from "../postgres/migrate.ts";

/** Creates the template of all test databases: copying costs a fraction of migrating. */
export async function createTemplate(serverUrl: string, name: string): Promise<void> {
  await recreateDatabase(serverUrl, name);
  const template = databaseUrlOf(serverUrl, name);
  await migrate(template);
  await makeServiceRole(serverUrl);
  await grantToService(template, SERVICE_ROLE);
}

/** Tests run with the rights of the service only. */
const SERVICE_ROLE = "keyhook_test_service";
const SERVICE_PASSWORD = "for tests only";

async function makeServiceRole(serverUrl: string): Promise<void> {
  await execute(
    serverUrl,
    `do $$ begin
       create role ${SERVICE_ROLE} login password '${SERVICE_PASSWORD}';
     exception when duplicate_object or unique_violation then null; end $$`,
  );
}

/** The same database, as the service connects to it. */
export function asService(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = SERVICE_ROLE;
  url.password = SERVICE_PASSWORD;
  return url.href;
}

/** Creates a fresh database with this name and returns its URL. An existing one is dropped, with its connections. */
export async function recreateDatabase(serverUrl: string, name: string, template = "template1"): Promise<string> {
  await dropDatabase(serverUrl, name);
  await execute(serverUrl, `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)}`);
  return databaseUrlOf(serverUrl, name);
}

export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}

async function execute(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function databaseUrlOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
