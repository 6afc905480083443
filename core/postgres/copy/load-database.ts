import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import type pg from "pg";
import { from } from "pg-copy-streams";
import { applyMigrations, type Migration, readMigrations } from "../migrate.ts";
import { checkTarget, connect, DatabaseCopyError } from "./check-target.ts";
import type { AppliedMigration } from "./dump-database.ts";
import type { DumpPart } from "./read-dump.ts";
import { quoted, readTables, suspendConstraints } from "./tables.ts";

type Options = {
  url: string;
  name: string;
  migrations: readonly AppliedMigration[];
  parts: AsyncIterable<DumpPart>;
  rows: Readonly<Record<string, number>>;
  /** If this throws, the database stays empty. */
  beforeCommit(): Promise<void>;
};

export async function requireEmptyDatabase(name: string, url: string): Promise<void> {
  const target = await connect(name, url);
  await checkTarget(target, name).finally(() => target.end());
}

/**
 * The caller must apply later migrations.
 * @returns tables of the dump that the service does not have
 */
export async function loadDatabase({ url, name, migrations, parts, rows, beforeCommit }: Options): Promise<string[]> {
  const known = requireKnown(migrations);
  const target = await connect(name, url);
  try {
    await checkTarget(target, name);
    await target.query("begin");
    await applyMigrations(target, known);
    await target.query("set local lock_timeout to 0");
    const tables = new Map((await readTables(target)).map((table) => [table.name, table.columns]));
    const list = [...tables.keys()].map(quoted).join(", ");
    const restoreConstraints = await suspendConstraints(target);
    await target.query(`truncate ${list}`);
    const loaded: Record<string, number> = {};
    const leftOut: string[] = [];
    for await (const part of parts) {
      if (part.kind === "statement") await target.query(part.text);
      else if (!tables.has(part.table)) leftOut.push(await drain(part));
      else if (isDeepStrictEqual(tables.get(part.table), part.columns)) loaded[part.table] = await load(target, part);
      else
        throw new DatabaseCopyError(
          `The table ${part.table} has different columns in the backup. Restore it with the version of the service that created it.`,
        );
    }
    for (const table of tables.keys())
      if (loaded[table] !== rows[table])
        throw new DatabaseCopyError(
          `The table ${table} got ${loaded[table] ?? "no"} rows instead of ${rows[table] ?? 0}. Nothing was restored.`,
        );
    await restoreConstraints();
    await target.query(`analyze ${list}`);
    await beforeCommit();
    await target.query("commit");
    return leftOut;
  } finally {
    await target.end().catch(() => undefined);
  }
}

type Rows = Extract<DumpPart, { kind: "rows" }>;

async function load(target: pg.Client, { statement, content }: Rows): Promise<number> {
  const copy = target.query(from(statement));
  await pipeline(content, copy);
  return copy.rowCount;
}

async function drain({ table, content }: Rows): Promise<string> {
  for await (const _ of content);
  return table;
}

function requireKnown(migrations: readonly AppliedMigration[]): Migration[] {
  const ours = readMigrations();
  const known = ours.filter(({ name, checksum }) => migrations.some((one) => one.name === name && one.checksum === checksum));
  if (known.length === migrations.length) return known;
  const unknown = migrations.find(({ name, checksum }) => !ours.some((one) => one.name === name && one.checksum === checksum));
  throw new DatabaseCopyError(
    `The backup contains migration ${unknown?.name} of a newer version. Restore it with that version of the service, or a later one.`,
  );
}
