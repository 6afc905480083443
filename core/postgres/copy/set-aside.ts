import type pg from "pg";
import { quoted } from "./tables.ts";

type ForeignKey = { table: string; name: string; definition: string };
type Trigger = { table: string; name: string; enabled: "O" | "A" | "R" };

const ENABLE = { O: "enable trigger", A: "enable always trigger", R: "enable replica trigger" } as const;

/**
 * Takes foreign keys and triggers off the tables of the schema: rows come table by table, before what they refer to, and have had their
 * consequences already. Needs no superuser, only the tables' owner.
 * @returns what puts them back; each foreign key then looks at all rows, as when it is new
 */
export async function setAside(client: pg.Client): Promise<() => Promise<void>> {
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
