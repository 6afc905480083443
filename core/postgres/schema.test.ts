import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pool } from "../db.ts";

/** Migrations are written by hand (docs/decisions/003), so these tests compare them with schema.prisma. */
type Column = { type: string; isNullable: boolean; hasDefault: boolean };
type Table = {
  columns: Record<string, Column>;
  primaryKey: string[];
  uniques: string[];
  indexes: string[];
  references: string[];
};

const sqlTypes: Record<string, string> = {
  String: "text",
  "String[]": "text[]",
  "Int[]": "integer[]",
  Int: "integer",
  Boolean: "boolean",
  Json: "jsonb",
  "Json@Json": "json",
  Bytes: "bytea",
  BigInt: "bigint",
  "DateTime@Date": "date",
  "DateTime@Timestamptz(3)": "timestamp(3) with time zone",
  "DateTime@Timestamptz(6)": "timestamp(6) with time zone",
};

const source = readFileSync(join(import.meta.dirname, "../../prisma/schema.prisma"), "utf8");

/** Unknown syntax results in a column without a type, so a test fails. */
function readSchema(): Record<string, Table> {
  const models = [...source.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name = "", body = ""]) => ({
    name,
    table: body.match(/@@map\("(\w+)"\)/)?.[1] ?? name,
    lines: body.split("\n").map((line) => line.replace(/\s*\/\/.*$/, "").trim()),
  }));
  const tableOf = new Map(models.map(({ name, table }) => [name, table]));
  return Object.fromEntries(models.map(({ table, lines }) => [table, readModel(lines, tableOf)]));
}

function readModel(lines: string[], tableOf: Map<string, string>): Table {
  const fields = lines.flatMap((line) => {
    const [, name, type = "", mark = "", rest = ""] = line.match(/^(\w+)\s+(\w+)(\?|\[\])?(.*)$/) ?? [];
    return name ? [{ name, type, mark, rest, column: rest.match(/@map\("(\w+)"\)/)?.[1] ?? name }] : [];
  });
  const columnOf = new Map(fields.map(({ name, column }) => [name, column]));
  const columnsOf = (list = "") =>
    list
      .replace(/\(.*?\)/g, "")
      .split(",")
      .map((name) => columnOf.get(name.trim()))
      .join(", ");
  const listed = (attribute: string) =>
    lines.flatMap((line) => line.match(new RegExp(`^@@${attribute}\\(\\[(.*)\\](?:, type: \\w+)?\\)`))?.[1] ?? []).map(columnsOf);

  // Prisma also makes lists nullable, and reads null as the empty list.
  const scalars = fields.filter(({ type }) => !tableOf.has(type));
  return {
    columns: Object.fromEntries(
      scalars.map(({ column, type, mark, rest }) => {
        const native = rest.match(/@db\.(\w+(?:\(\d+\))?)/)?.[1];
        const key = `${type}${mark === "[]" ? mark : ""}${native ? `@${native}` : ""}`;
        return [
          column,
          { type: sqlTypes[key] ?? `unknown ${key}`, isNullable: mark !== "", hasDefault: rest.includes("@default(") },
        ];
      }),
    ),
    primaryKey: [...scalars.filter(({ rest }) => /@id\b/.test(rest)).map(({ column }) => column), ...listed("id")],
    uniques: [...scalars.filter(({ rest }) => /@unique\b/.test(rest)).map(({ column }) => column), ...listed("unique")].sort(),
    indexes: listed("index").sort(),
    references: fields
      .flatMap(({ type, rest }) => {
        const [, own, theirs] = rest.match(/@relation\(fields: \[(.*?)\], references: \[(.*?)\]/) ?? [];
        if (!own) return [];
        const onDelete = rest.match(/onDelete: (\w+)/)?.[1] ?? "";
        return [`${columnsOf(own)} -> ${tableOf.get(type)}(${theirs}) ${onDelete}`];
      })
      .sort(),
  };
}

async function readDatabase(): Promise<Record<string, Table>> {
  const { rows: columns } = await pool().query<Column & { table: string; name: string }>(
    `select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
            not a.attnotnull as "isNullable", a.atthasdef as "hasDefault"
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and c.relname <> '_prisma_migrations'
     order by c.relname, a.attnum`,
  );
  const { rows: indexes } = await pool().query<{ table: string; columns: string; isPrimary: boolean; isUnique: boolean }>(
    `select t.relname as "table", i.indisprimary as "isPrimary", i.indisunique as "isUnique",
            (select string_agg(a.attname, ', ' order by k.position)
             from unnest(i.indkey) with ordinality k (attnum, position)
             join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum) as columns
     from pg_index i join pg_class t on t.oid = i.indrelid
     where t.relnamespace = 'public'::regnamespace and i.indpred is null and i.indexprs is null and not t.relispartition`,
  );
  const { rows: references } = await pool().query<{ table: string; reference: string }>(
    `select t.relname as "table",
            concat((select string_agg(attname, ', ') from pg_attribute where attrelid = t.oid and attnum = any (f.conkey)), ' -> ',
                   r.relname, '(', (select string_agg(attname, ', ') from pg_attribute where attrelid = r.oid and attnum = any (f.confkey)),
                   ') ', case f.confdeltype when 'c' then 'Cascade' when 'n' then 'SetNull' when 'r' then 'Restrict' else '' end) as reference
     from pg_constraint f join pg_class t on t.oid = f.conrelid join pg_class r on r.oid = f.confrelid
     where f.contype = 'f' and f.connamespace = 'public'::regnamespace`,
  );

  const tables: Record<string, Table> = {};
  for (const { table, name, ...column } of columns) {
    tables[table] ??= { columns: {}, primaryKey: [], uniques: [], indexes: [], references: [] };
    tables[table].columns[name] = column;
  }
  for (const { table, columns: list, isPrimary, isUnique } of indexes) {
    const found = tables[table];
    (isPrimary ? found?.primaryKey : isUnique ? found?.uniques : found?.indexes)?.push(list);
  }
  for (const { table, reference } of references) tables[table]?.references.push(reference);
  for (const { uniques, indexes: plain, references: all } of Object.values(tables))
    for (const list of [uniques, plain, all]) list.sort();
  return tables;
}

describe("prisma/migrations", () => {
  it("creates exactly the tables of schema.prisma", async () => {
    const [wanted, found] = [readSchema(), await readDatabase()];
    expect(Object.keys(found).sort()).toEqual(Object.keys(wanted).sort());
    expect(Object.keys(wanted).length).toBeGreaterThan(15);
  });

  it.each(Object.entries(readSchema()))("creates %s with its columns, keys, indexes and references", async (name, wanted) => {
    expect((await readDatabase())[name]).toEqual(wanted);
  });
});
