import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { SettingsError } from "../env.ts";

/** The message is for the operator's terminal. */
export class MigrationError extends Error {
  override name = "MigrationError";
}

// `prisma migrate deploy` takes this lock too, so that the two exclude each other.
const PRISMA_LOCK = 72707369;

/** A statement that waits for a lock blocks all later statements on the table. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 30;

/** This is exactly Prisma's own table, which `prisma migrate status` and `deploy` read. */
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
 * Several processes may call this at once. A migration with `create index concurrently` cannot run in a transaction, so it
 * begins again after an interruption.
 * @returns the names of the applied migrations
 */
export async function migrate(databaseUrl: string, migrations: Migration[] = readMigrations()): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "keyhook migrate" });
  await client.connect();
  try {
    if (await isPooled(client)) throw new SettingsError(THROUGH_POOLER);
    await waitForOthers(client);
    // The role may not be allowed to create tables, so an existing table is left alone.
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

const THROUGH_POOLER =
  "Migrations cannot run through a pooler, because they hold a session-level lock. Set DATABASE_DIRECT_URL, and DATABASE_OWNER_URL if " +
  "you use it, to the database server itself (docs/operations.md).";

/** A pooler gives its clients other process IDs than the server does. */
export async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
}

/** Call this within a transaction, in an empty database. */
export async function applyMigrations(client: pg.Client, migrations: Migration[] = readMigrations()): Promise<void> {
  await client.query(TABLE);
  for (const migration of migrations)
    await run(client, { ...migration, sql: migration.sql.replace(INDEX_CONCURRENTLY, "$<before>$<after>") });
}

/** Tries repeatedly, because `create index concurrently` waits for all other sessions, also for one that waits for the lock. */
async function waitForOthers(client: pg.Client): Promise<void> {
  const isMine = async () => {
    const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [PRISMA_LOCK]);
    return rows[0]?.mine;
  };
  while (!(await isMine())) await delay(100);
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
        `Migration ${name} failed on this database. Repair what it left behind, then run ` +
          `\`npx prisma migrate resolve --rolled-back ${name}\` (or --applied, if it is complete).`,
      );
    if (!known)
      throw new MigrationError(`The database contains migration ${name} of a newer version. Run that version or a later one.`);
    if (known.checksum !== checksum)
      throw new MigrationError(
        `Migration ${name} differs between this database and prisma/migrations. ` +
          "Restore the file, or start with an empty database (another DATA_DIR or DATABASE_URL).",
      );
  }
  const applied = new Set(recorded.map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const index = INDEX_CONCURRENTLY.exec(migration.sql)?.groups?.name;
  // An interrupted build leaves an invalid index with this name.
  if (index) await client.query(`drop index concurrently if exists ${index}`);
  for (let attempt = 1; ; attempt++) {
    try {
      if (index) return await run(client, migration);
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await run(client, migration);
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback").catch(() => undefined);
      if (!isLockTimeout(error) || attempt === LOCK_ATTEMPTS) throw error;
      await delay(Math.random() * LOCK_TIMEOUT_MS);
    }
  }
}

const INDEX_CONCURRENTLY =
  /(?<before>create\s+(?:unique\s+)?index\s+)concurrently\s+(?<after>(?:if\s+not\s+exists\s+)?(?<name>"[^"]+"|\w+))/i;

const isLockTimeout = (error: unknown): boolean =>
  error instanceof MigrationError && (error.cause as { code?: string } | undefined)?.code === "55P03";

async function run(client: pg.Client, { name, checksum, sql }: Migration): Promise<void> {
  try {
    await client.query(sql);
    // `clock_timestamp` gives each migration of one transaction a different time, which is their order.
    await client.query(
      `insert into "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
  } catch (cause) {
    throw new MigrationError(`Migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

export async function pendingMigrations(
  database: string | pg.Pool,
  migrations: Migration[] = readMigrations(),
): Promise<string[]> {
  const pool = typeof database === "string" ? new pg.Pool({ connectionString: database, max: 1 }) : database;
  try {
    const { rows: tables } = await pool.query<{ table: string | null }>(`select to_regclass('"_prisma_migrations"') as table`);
    if (!tables[0]?.table) return migrations.map(({ name }) => name);
    const { rows } = await pool.query<{ name: string }>(
      `select migration_name as name from "_prisma_migrations" where finished_at is not null and rolled_back_at is null`,
    );
    const applied = new Set(rows.map(({ name }) => name));
    return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
  } finally {
    if (typeof database === "string") await pool.end();
  }
}

export type Migration = {
  name: string;
  sql: string;
  /** Prisma computes it in the same way: SHA-256 of the file, in hex. */
  checksum: string;
};

const FOLDER = join(import.meta.dirname, "../../prisma/migrations");

export function readMigrations(folder = FOLDER): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(folder, name, "migration.sql"));
      return { name, sql: bytes.toString("utf8"), checksum: createHash("sha256").update(bytes).digest("hex") };
    });
}
