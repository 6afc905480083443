import pg from "pg";
import { type Migration, readMigrations } from "./migrations.ts";

/** The names of the migrations that a database still lacks, for `/readyz` and for commands that use a running service's database. */
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
