import pg from "pg";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import { db, pool } from "../db.ts";
import { databaseUrl, env, SettingsError } from "../env.ts";
import { newId } from "../ids.ts";
import { asService, dropDatabase, recreateDatabase } from "../testing/database.ts";
import { APPEND_ONLY_TABLES } from "./grant-to-service.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { prepareSchema } from "./prepare-schema.ts";

const ownerUrl = env().DATABASE_OWNER_URL as string;
const actorId = newId();

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The code is `42501` for a missing right, and `P0001` if a trigger or a function refuses. */
const codeOf = (client: pg.Client | pg.Pool, sql: string): Promise<string | undefined> =>
  client.query(sql).then(
    () => undefined,
    ({ code }: { code: string }) => code,
  );

beforeAll(async () => {
  await recordAuditEvent(db(), { type: "user.sign_in", actorId });
  await pool().query(
    `insert into audit_seal (seq, event_id, event_created_at, content_hash, previous_hash, hash)
     values (1, 'x', now(), $1, $1, $1)`,
    [Buffer.alloc(32)],
  );
});

describe("S116 the role of the service", () => {
  it.each(
    APPEND_ONLY_TABLES.flatMap((table) => [
      `update ${table} set ${table === "audit_event" ? "type = 'x.y'" : "seq = seq + 1"}`,
      `delete from ${table}`,
      `truncate ${table}`,
      `select * from ${table} for update`,
      `merge into ${table} t using (select 1) s on true when matched then delete`,
      `alter table ${table} disable trigger all`,
      `alter table ${table} add column note text`,
      `alter table ${table} owner to current_user`,
      `create trigger t before insert on ${table} for each row execute function suppress_redundant_updates_trigger()`,
      `create rule r as on insert to ${table} do instead nothing`,
      `drop table ${table}`,
      `grant all on ${table} to current_user with grant option`,
    ]),
  )("cannot: %s", async (sql) => {
    expect(await codeOf(pool(), sql)).toBe(sql.startsWith("grant") ? undefined : "42501");
    const { rows } = await pool().query("select 1 from audit_event where actor_id = $1 and type = 'user.sign_in'", [actorId]);
    expect(rows).toHaveLength(1);
    // GRANT without the right to grant gives a warning, and grants nothing.
    expect(await codeOf(pool(), "delete from audit_event")).toBe("42501");
  });

  it.each([
    "create table t (id int)",
    "create function f() returns int language sql as 'select 1'",
    "create or replace function refuse_audit_event_change() returns trigger language plpgsql as 'begin return old; end'",
    "alter function expire_audit_events(integer, integer, text) owner to current_user",
    "drop function await_audit_seal() cascade",
    "drop schema public cascade",
    "set session_replication_role = replica",
    "set role postgres",
    `update "_prisma_migrations" set checksum = ''`,
    "alter system set log_statement = 'none'",
    "alter role current_user superuser",
  ])("cannot run: %s", async (sql) => expect(await codeOf(pool(), sql)).toMatch(/^(42501|42939)$/));

  it("cannot remove a recent entry with the function that removes old entries", async () => {
    const attempts = [0, 1, 89, -5, "null"].map((days) => `select expire_audit_events(${days}, 1000, 'x')`);
    for (const sql of attempts) expect(await codeOf(pool(), sql)).toBe("P0001");
    await pool().query("select expire_audit_events(90, 1000, 'x')");
    const service = await connect(databaseUrl());
    await service.query("set keyhook.audit_expiry = 'on'");
    expect(await codeOf(service, "delete from audit_event")).toBe("42501");
    // A temporary table of the caller's must not change what the function reads.
    await service.query(
      `create temp table audit_seal as select 1::bigint as seq, id as event_id from audit_event;
       create temp table audit_event as select id, now() - interval '9 years' as created_at from audit_event`,
    );
    await service.query("select expire_audit_events(90, 1000, 'x')");
    expect((await pool().query("select 1 from audit_event where actor_id = $1", [actorId])).rows).toHaveLength(1);
  });

  it("may use every other table, so that the tables of later migrations are not forgotten", async () => {
    const { rows } = await pool().query<{ name: string; rights: string }>(
      `select c.relname as name, concat_ws(' ', case when has_table_privilege(c.oid, 'select') then 'S' end,
          case when has_table_privilege(c.oid, 'insert') then 'I' end, case when has_table_privilege(c.oid, 'update') then 'U' end,
          case when has_table_privilege(c.oid, 'delete') then 'D' end, case when has_table_privilege(c.oid, 'truncate') then 'T' end) as rights
       from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')`,
    );
    expect(rows.length).toBeGreaterThan(30);
    const appendOnly: readonly string[] = APPEND_ONLY_TABLES;
    for (const { name, rights } of rows) {
      const expected = appendOnly.includes(name) ? "S I" : name === "_prisma_migrations" ? "S" : "S I U D";
      expect([name, rights]).toEqual([name, expected]);
    }
  });
});

describe("S116 the owner of the tables", () => {
  it.each(APPEND_ONLY_TABLES)("is refused by triggers too: %s", async (table) => {
    const owner = await connect(ownerUrl);
    const column = table === "audit_event" ? "type" : "event_id";
    for (const sql of [`update ${table} set ${column} = ${column}`, `delete from ${table}`, `truncate ${table}`]) {
      expect([sql, await codeOf(owner, sql)]).toEqual([sql, "P0001"]);
    }
  });
});

describe("prepareSchema", () => {
  const name = `keyhook_roles_${process.pid}`;

  it("takes over a database that one role has owned and used so far", async () => {
    const url = await recreateDatabase(inject("serverUrl"), name);
    onTestFinished(() => dropDatabase(inject("serverUrl"), name));
    await migrate(url);
    const service = asService(url);
    expect(await codeOf(await connect(service), `select * from "user"`)).toBe("42501");
    const prepare = () => prepareSchema({ url: service, ownerUrl: url });
    expect(await prepare()).toEqual([]);
    expect(await Promise.all([prepare(), prepare(), prepare(), prepare()])).toEqual([[], [], [], []]);
    const client = await connect(service);
    expect(await codeOf(client, `select * from "user"`)).toBeUndefined();
    expect(await codeOf(client, "delete from audit_event")).toBe("42501");
    expect(await prepareSchema({ url: service })).toEqual([]);
    expect(await pendingMigrations(service)).toEqual([]);
  });

  it("refuses two URLs of different databases", async () => {
    await expect(prepareSchema({ url: databaseUrl(), ownerUrl: inject("serverUrl") })).rejects.toBeInstanceOf(SettingsError);
  });
});
