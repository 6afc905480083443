import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";
import { recreateDatabase } from "../testing/database.ts";
import { migrate, pendingMigrations, readMigrations } from "./migrate.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhook-migrations-"));

function write(name: string, sql: string) {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "migration.sql"), sql);
}

let url: string;

async function query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return (await client.query<Row>(sql)).rows;
}

const recorded = () => query<{ migration_name: string }>(`select * from "_prisma_migrations" order by migration_name`);

beforeEach(async () => {
  url = await recreateDatabase(inject("serverUrl"), `keyhook_migrate_${process.pid}`);
  write("1_first", "create table a (id int primary key); insert into a values (1);");
  write("2_second", "alter table a add b text; -- ünïcode");
});

describe("migrate", () => {
  it("applies migrations in order and records them as Prisma does", async () => {
    expect(await migrate(url, readMigrations(folder))).toEqual(["1_first", "2_second"]);
    const [first] = await recorded();
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      checksum: "648570612736861da2fea173fb58ef5496083a9936da22125ee35e006934b020",
      migration_name: "1_first",
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      finished_at: expect.any(Date),
      applied_steps_count: 1,
    });
    expect(await query("select * from a")).toEqual([{ id: 1, b: null }]);
  });

  it("does nothing the second time", async () => {
    const migrations = readMigrations(folder);
    await migrate(url, migrations.slice(0, 1));
    expect(await pendingMigrations(url, migrations)).toEqual(["2_second"]);
    expect(await migrate(url, migrations)).toEqual(["2_second"]);
    expect(await migrate(url, migrations)).toEqual([]);
    expect(await pendingMigrations(url, migrations)).toEqual([]);
  });

  it("makes one of two simultaneous migrators wait for the other", async () => {
    write("1_first", "select pg_sleep(0.3); create table a (id int primary key)");
    const both = await Promise.all([migrate(url, readMigrations(folder)), migrate(url, readMigrations(folder))]);
    expect(both.map(({ length }) => length).sort()).toEqual([0, 2]);
    expect(await recorded()).toHaveLength(2);
  });

  it("lets the running service continue while a migration waits for a lock", async () => {
    await migrate(url, readMigrations(folder).slice(0, 1));
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query("begin; select * from a");
    const migrating = migrate(url, readMigrations(folder));
    await expect
      .poll(() => query(`select from pg_stat_activity where wait_event = 'relation' and query like '%add b%'`))
      .toHaveLength(1);
    expect(await query("select id from a")).toEqual([{ id: 1 }]);
    await reader.query("commit");
    await reader.end();
    expect(await migrating).toEqual(["2_second"]);
  });

  it("builds an index beside running transactions, and again after an interruption", async () => {
    write("2_second", "create index concurrently a_id on a (id);");
    await migrate(url, readMigrations(folder).slice(0, 1));
    // Leaves the index as an interrupted build does.
    await query("create index a_id on a (id); update pg_index set indisvalid = false where indexrelid = 'a_id'::regclass");
    const both = await Promise.all([migrate(url, readMigrations(folder)), migrate(url, readMigrations(folder))]);
    expect(both.flat()).toEqual(["2_second"]);
    expect(await query("select indisvalid from pg_index where indexrelid = 'a_id'::regclass")).toEqual([{ indisvalid: true }]);
  });

  it("refuses a migration that was changed after it was applied", async () => {
    await migrate(url, readMigrations(folder));
    write("2_second", "alter table a add c text");
    await expect(migrate(url, readMigrations(folder))).rejects.toThrow(
      /2_second differs between this database and prisma\/migrations/,
    );
  });

  it("undoes only the failed migration, which is applied after its repair", async () => {
    write("2_second", "create table c (); select nothing from nowhere");
    await expect(migrate(url, readMigrations(folder))).rejects.toThrow(/2_second failed: relation "nowhere" does not exist/);
    expect(await recorded()).toMatchObject([{ migration_name: "1_first" }]);
    expect(await query("select to_regclass('c') as c")).toEqual([{ c: null }]);
    write("2_second", "create table c ()");
    expect(await migrate(url, readMigrations(folder))).toEqual(["2_second"]);
  });

  it("refuses a database with an unresolved failed migration of Prisma", async () => {
    await migrate(url, readMigrations(folder));
    await query(`update "_prisma_migrations" set finished_at = null where migration_name = '2_second'`);
    await expect(migrate(url, readMigrations(folder))).rejects.toThrow(
      /2_second failed on this database.*prisma migrate resolve/,
    );
    await query(`update "_prisma_migrations" set rolled_back_at = now() where migration_name = '2_second'`);
    await query("alter table a drop b");
    expect(await migrate(url, readMigrations(folder))).toEqual(["2_second"]);
  });

  it("refuses a database that a newer version has migrated", async () => {
    await migrate(url, readMigrations(folder));
    await expect(migrate(url, readMigrations(folder).slice(0, 1))).rejects.toThrow(/2_second of a newer version/);
  });
});
