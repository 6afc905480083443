import type pg from "pg";
import { to } from "pg-copy-streams";
import { connect } from "./check-target.ts";
import { columnList, quoted, readPartitions, readTables, type Table } from "./tables.ts";

export type AppliedMigration = { name: string; checksum: string };

export type DatabaseDump = {
  migrations: AppliedMigration[];
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  /**
   * Does not contain the schema. The migrations create it, because its owner may have another name elsewhere.
   * @param rows gets the number of rows of each table
   */
  content(rows: Record<string, number>): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
};

/** The last line of a dump. A dump without it is incomplete. */
export const DUMP_END = "-- end of the dump";

/** Does not use `pg_dump`, which must match the server's version and does not come with the embedded server. */
export async function beginDump(url: string): Promise<DatabaseDump> {
  const client = await connect("DATABASE_URL", url);
  try {
    await client.query("begin isolation level repeatable read, read only");
    const { rows: migrations } = await client.query<AppliedMigration>(
      `select migration_name as name, checksum from "_prisma_migrations"
        where finished_at is not null and rolled_back_at is null order by migration_name`,
    );
    return {
      migrations,
      query: async (text) => (await client.query(text)).rows,
      content: (rows) => dump(client, rows),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function* dump(client: pg.Client, rows: Record<string, number>): AsyncGenerator<Buffer, void, undefined> {
  for (const { name, parent, bounds } of await readPartitions(client))
    yield line(`create table if not exists ${quoted(name)} partition of ${quoted(parent)} ${bounds};`);
  for (const table of await readTables(client)) {
    const columns = columnList(table);
    yield line(copyStatement(table));
    // A partitioned table has no rows of its own.
    const copy = client.query(to(`copy (select ${columns} from ${quoted(table.name)}) to stdout`));
    for await (const chunk of copy) yield chunk as Buffer;
    yield line("\\.");
    rows[table.name] = copy.rowCount;
  }
  const { rows: sequences } = await client.query<{ name: string }>(
    "select relname::text as name from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace",
  );
  for (const { name } of sequences) {
    const found = await client.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${quoted(name)}`,
    );
    yield line(`select setval('${quoted(name)}', ${found.rows[0]?.value}, ${found.rows[0]?.isCalled});`);
  }
  yield line(DUMP_END);
}

const copyStatement = (table: Table): string => `copy ${quoted(table.name)} (${columnList(table)}) from stdin;`;
const line = (text: string): Buffer => Buffer.from(`${text}\n`);
