import pg from "pg";
import { DatabaseCopyError } from "./database-copy-error.ts";

/** The same text for the same value on both servers, and no timeout: a large table takes long. */
const SESSION = `set client_encoding to 'UTF8'; set datestyle to 'ISO, MDY'; set intervalstyle to 'postgres'; set timezone to 'UTC';
  set extra_float_digits to 3; set bytea_output to 'hex'; set statement_timeout to 0; set lock_timeout to 0;
  set idle_in_transaction_session_timeout to 0`;

/** The name of a copy's sessions in `pg_stat_activity`. */
export const COPY_APPLICATION = "keyhook copy";

/** @param name the operator's name for the database: the setting or option that named it */
export async function connect(name: string, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: COPY_APPLICATION, connectionTimeoutMillis: 10_000 });
  // A broken connection shows at the next statement.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(SESSION);
    return client;
  } catch (cause) {
    await client.end().catch(() => undefined);
    throw new DatabaseCopyError(`${name}: that database cannot be reached: ${(cause as Error).message}`, { cause });
  }
}
