import pg from "pg";

export type Table = { name: string; columns: string[] };

const MIGRATIONS_TABLE = "_prisma_migrations";

export const quoted = pg.escapeIdentifier;
export const columnList = ({ columns }: Table): string => columns.map(quoted).join(", ");

export async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname::text as name,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attname) as columns
       from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> $1
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      order by c.relname`,
    [MIGRATIONS_TABLE],
  );
  return rows;
}

/** The bounds have the form that `CREATE TABLE … PARTITION OF` takes. */
export async function readPartitions(client: pg.Client): Promise<{ name: string; parent: string; bounds: string }[]> {
  const { rows } = await client.query(
    `select c.relname::text as name, p.relname::text as parent, pg_get_expr(c.relpartbound, c.oid) as bounds
       from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
      where c.relispartition and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace order by c.relname`,
  );
  return rows;
}

/** The sum of the rows' hashes does not depend on their order. */
type Contents = { rows: string; hash: string };

export async function readContents(client: pg.Client, table: Table): Promise<Contents> {
  // Does not use Postgres's own hashes, which may differ between versions.
  const { rows } = await client.query<Contents>(
    `select count(*)::text as rows,
            coalesce(sum(('x' || substr(encode(sha256(convert_to(row(${columnList(table)})::text, 'UTF8')), 'hex'), 1, 15))::bit(60)::bigint), 0)::text
              as hash
       from ${quoted(table.name)}`,
  );
  return rows[0] as Contents;
}

type ForeignKey = { table: string; name: string; definition: string };
type Trigger = { table: string; name: string; enabled: "O" | "A" | "R" };

const ENABLE = { O: "enable trigger", A: "enable always trigger", R: "enable replica trigger" } as const;

/**
 * Rows may be copied before the rows that they refer to. Their triggers ran when the rows were first written.
 * @returns a function that restores the constraints
 */
export async function suspendConstraints(client: pg.Client): Promise<() => Promise<void>> {
  const { rows: keys } = await client.query<ForeignKey>(
    `select c.relname::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid
      where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = current_schema()::regnamespace`,
  );
  const { rows: triggers } = await client.query<Trigger>(
    `select c.relname::text as table, t.tgname::text as name, t.tgenabled as enabled
       from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D' and c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { table, name } of keys) await client.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
  for (const { table, name } of triggers) await client.query(`alter table ${quoted(table)} disable trigger ${quoted(name)}`);
  return async () => {
    for (const { table, name, definition } of keys)
      await client.query(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
    for (const { table, name, enabled } of triggers)
      await client.query(`alter table ${quoted(table)} ${ENABLE[enabled]} ${quoted(name)}`);
  };
}
