import { randomUUID } from "node:crypto";
import pg from "pg";
import { type Migration, readMigrations } from "./migrations.ts";

/** Thrown if the database and this version's migrations do not match; its message is for the operator's terminal. */
export class MigrationError extends Error {
  override name = "MigrationError";
}

// The same lock as `prisma migrate deploy`, so that the two exclude each other.
const PRISMA_LOCK = 72707369;

/** Prisma's own table, exactly: `prisma migrate status` and `deploy` read it. */
const TABLE = `create table "_prisma_migrations" (
  "id"                  varchar(36) primary key not null,
  "checksum"            varchar(64) not null,
  "finished_at"         timestamptz,
  "migration_name"      varchar(255) not null,
  "logs"                text,
  "rolled_back_at"      timestamptz,
  "started_at"          timestamptz not null default now(),
  "applied_steps_count" integer not null default 0
)`;

type Recorded = { name: string; checksum: string; isFinished: boolean };

/**
 * Brings a database to this version's schema and returns the names of the applied migrations. Several processes may call it at once: one
 * works, the others wait. A migration is applied and recorded in one transaction, so an interruption leaves nothing half done.
 *
 * @throws {MigrationError} if an applied migration was changed since, has failed, or is unknown to this version.
 */
export async function migrate(databaseUrl: string, migrations: Migration[] = readMigrations()): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "keyhook migrate" });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [PRISMA_LOCK]);
    // Checked first: a role that may not create tables finds out here that it need not.
    const { rows } = await client.query<{ isThere: boolean }>(
      `select to_regclass('"_prisma_migrations"') is not null as "isThere"`,
    );
    if (!rows[0]?.isThere) await client.query(TABLE);
    const pending = pendingOf(migrations, await readRecorded(client));
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    await client.end(); // which releases the lock
  }
}

/** Creates this version's schema in an empty database, within the caller's transaction. */
export async function applyMigrations(client: pg.Client, migrations: Migration[] = readMigrations()): Promise<void> {
  await client.query(TABLE);
  for (const migration of migrations) await run(client, migration);
}

async function readRecorded(client: pg.Client): Promise<Recorded[]> {
  const { rows } = await client.query<Recorded>(
    `select migration_name as name, checksum, finished_at is not null as "isFinished"
       from "_prisma_migrations" where rolled_back_at is null order by started_at`,
  );
  return rows;
}

function pendingOf(migrations: Migration[], recorded: Recorded[]): Migration[] {
  for (const { name, checksum, isFinished } of recorded) {
    const known = migrations.find((migration) => migration.name === name);
    if (!isFinished)
      throw new MigrationError(
        `Migration ${name} was started on this database and failed. Repair what it left, then say so with ` +
          `\`npx prisma migrate resolve --rolled-back ${name}\` (or --applied, if it is complete).`,
      );
    if (!known)
      throw new MigrationError(
        `The database has migration ${name}, which this version does not know: a newer version made it. Run that one.`,
      );
    if (known.checksum !== checksum)
      throw new MigrationError(
        `Migration ${name} was applied to this database in another form than prisma/migrations has now. ` +
          "Restore the file, or start with an empty database (another DATA_DIR or DATABASE_URL).",
      );
  }
  const applied = new Set(recorded.map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query("begin");
    await run(client, migration);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

async function run(client: pg.Client, { name, checksum, sql }: Migration): Promise<void> {
  try {
    await client.query(sql);
    // Each with a different time, although several share a transaction: they are read in the order of these times.
    await client.query(
      `insert into "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
  } catch (cause) {
    throw new MigrationError(`Migration ${name} failed and was undone: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}
