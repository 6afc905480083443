import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import type pg from "pg";
import { from, to } from "pg-copy-streams";
import { applyMigrations } from "../migrate.ts";
import { COPY_APPLICATION, checkTarget, connect, DatabaseCopyError } from "./check-target.ts";
import { columnList, quoted, readContents, readPartitions, readTables, suspendConstraints, type Table } from "./tables.ts";

type DatabaseCopy = { tables: number; rows: number };

type Options = {
  /** The role must own the database. The source must have this version's schema. */
  sourceUrl: string;
  targetUrl: string;
  copied?: (table: string, rows: number) => void;
};

const LOCK_WAIT = "5s";
const LOCK_NOT_AVAILABLE = "55P03";

/** The copy is one transaction, so after a failure the target is as empty as before. */
export async function copyDatabase({ sourceUrl, targetUrl, copied = () => undefined }: Options): Promise<DatabaseCopy> {
  const source = await connect("The database to be copied", sourceUrl);
  try {
    const target = await connect("--to", targetUrl);
    try {
      await checkTarget(target);
      const tables = await lockAgainstWrites(source);
      await target.query("begin");
      await applyMigrations(target);
      // The migrations' timeout for locks must not apply to the copy.
      await target.query("set local lock_timeout to 0");
      const rows = await copyContents({ source, target, tables, copied });
      await target.query("commit");
      return { tables: tables.length, rows };
    } finally {
      await target.end().catch(() => undefined);
    }
  } finally {
    await source.end().catch(() => undefined);
  }
}

export async function isInUse(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ isInUse: boolean }>(
    `select exists (select from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                       and application_name like 'keyhook%' and application_name <> $1) as "isInUse"`,
    [COPY_APPLICATION],
  );
  return rows[0]?.isInUse ?? false;
}

async function lockAgainstWrites(source: pg.Client): Promise<Table[]> {
  const inUse = "The service or a command is still using the database to be copied. Stop all its processes first.";
  if (await isInUse(source)) throw new DatabaseCopyError(inUse);
  const tables = await readTables(source);
  if (tables.length === 0) throw new DatabaseCopyError("The database to be copied has no tables.");
  await source.query(`begin isolation level repeatable read; set local lock_timeout to '${LOCK_WAIT}'`);
  try {
    // The locks come before the first query, which takes the snapshot.
    await source.query(`lock table ${tables.map(({ name }) => quoted(name)).join(", ")} in share mode`);
  } catch (cause) {
    if ((cause as { code?: string }).code === LOCK_NOT_AVAILABLE) throw new DatabaseCopyError(inUse, { cause });
    throw cause;
  }
  return tables;
}

type Sides = { source: pg.Client; target: pg.Client; tables: Table[]; copied(table: string, rows: number): void };

async function copyContents({ source, target, tables, copied }: Sides): Promise<number> {
  const there = await readTables(target);
  if (!isDeepStrictEqual(there, tables)) throw new DatabaseCopyError(describeDifference(tables, there));
  await makePartitions(source, target);
  const restoreConstraints = await suspendConstraints(target);
  await target.query(`truncate ${tables.map(({ name }) => quoted(name)).join(", ")}`);
  let total = 0;
  for (const table of tables) {
    const columns = columnList(table);
    await pipeline(
      source.query(to(`copy (select ${columns} from ${quoted(table.name)}) to stdout`)),
      target.query(from(`copy ${quoted(table.name)} (${columns}) from stdin`)),
    );
    const [sent, arrived] = [await readContents(source, table), await readContents(target, table)];
    if (!isDeepStrictEqual(sent, arrived))
      throw new DatabaseCopyError(
        `The copy of the table ${table.name} differs from the original: it has ${arrived.rows} rows, the original ${sent.rows}. The copy was discarded.`,
      );
    total += Number(arrived.rows);
    copied(table.name, Number(arrived.rows));
  }
  await copySequences(source, target);
  await restoreConstraints();
  await target.query(`analyze ${tables.map(({ name }) => quoted(name)).join(", ")}`);
  return total;
}

async function makePartitions(source: pg.Client, target: pg.Client): Promise<void> {
  const there = new Set((await readPartitions(target)).map(({ name }) => name));
  for (const { name, parent, bounds } of await readPartitions(source))
    if (!there.has(name)) await target.query(`create table ${quoted(name)} partition of ${quoted(parent)} ${bounds}`);
}

async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows: names } = await source.query<{ name: string }>(
    "select relname::text as name from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace",
  );
  for (const { name } of names) {
    const { rows } = await source.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${quoted(name)}`,
    );
    await target.query("select setval($1::regclass, $2::bigint, $3)", [quoted(name), rows[0]?.value, rows[0]?.isCalled]);
  }
}

function describeDifference(here: Table[], there: Table[]): string {
  const names = (tables: Table[]) => new Map(tables.map((table) => [table.name, table.columns.join()]));
  const [ours, theirs] = [names(here), names(there)];
  const different = [...ours].filter(([name, columns]) => theirs.get(name) !== columns).map(([name]) => name);
  return different.length > 0
    ? `The database has tables or columns that this version's migrations do not create: ${different.slice(0, 5).join(", ")}. If you created them, move them elsewhere first.`
    : "The database lacks tables that this version's migrations create. Restore them from a backup first.";
}
