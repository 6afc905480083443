import pg from "pg";

export const SERVICE_ROLE = "keyhook_test_service";
export const SERVICE_PASSWORD = "for tests only";

export function asService(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = SERVICE_ROLE;
  url.password = SERVICE_PASSWORD;
  return url.href;
}

export async function recreateDatabase(serverUrl: string, name: string, template = "template1"): Promise<string> {
  await dropDatabase(serverUrl, name);
  await execute(serverUrl, `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)}`);
  return databaseUrlOf(serverUrl, name);
}

export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}

export async function execute(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export function databaseUrlOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
