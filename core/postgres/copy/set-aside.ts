import type pg from "pg";
import { quoted } from "./tables.ts";

type ForeignKey = { table: string; name: string; definition: string };
type Trigger = { table: string; name: string; enabled: "O" | "A" | "R" };

const ENABLE = { O: "enable trigger", A: "enable always trigger", R: "enable replica trigger" } as const;

/**
 * Removes foreign keys and triggers from the tables of the schema: rows are copied table by table, before the rows that they refer to, and
 * their triggers have run already. Requires only the tables' owner, not a superuser.
 * @returns a function that restores them; each foreign key then checks all rows, as when it is new
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
