import pg from "pg";
import { databaseUrl, env } from "../env.ts";

/** Runs SQL as the role that owns the tables, for what the service itself may not: tables, constraints, statistics. */
export async function asOwner(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: env().DATABASE_OWNER_URL ?? databaseUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
