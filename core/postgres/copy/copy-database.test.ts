import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";
import { closeConnections } from "../../db.ts";
import { env } from "../../env.ts";
import { recreateDatabase } from "../../testing/database.ts";
import { type EmbeddedServer, startEmbedded } from "../embedded.ts";
import { pendingMigrations } from "../migrate.ts";
import { copyDatabase } from "./copy-database.ts";
import { readContents, readPartitions, readTables } from "./tables.ts";

let other: EmbeddedServer;
let source: pg.Client;
let sourceUrl: string;
let targetUrl: string;
const folder = mkdtempSync(join(tmpdir(), "keyhook-copy-"));

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

const DAYS_AGO = 12;
const ROWS = 5_000;

beforeAll(async () => {
  other = await startEmbedded(folder, { isDurable: false });
  sourceUrl = env().DATABASE_OWNER_URL as string;
  source = new pg.Client({ connectionString: sourceUrl });
  await source.connect();
  const today = Math.floor(Date.now() / 86_400_000);
  await source.query(`select make_delivery_partitions(current_date - ${DAYS_AGO}, current_date - ${DAYS_AGO})`);
  await source.query(
    `insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state)
     select lpad(to_hex((${today} - ${DAYS_AGO})::bigint * 86400 + n), 8, '0') || lpad(to_hex(n), 16, '0'), 'w', 'o', 'e', 'event', 'repo', 'update',
            'r', 'model', E'a\\tname\nwith \\\\ and \u00fc', 'failed' from generate_series(1, ${ROWS}) n`,
  );
  await source.query("insert into audit_event (id, type) values ('0123456789abcdef01234567', 'user.sign_in')");
}, 120_000);
afterAll(async () => {
  await source.end();
  await other.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await closeConnections();
  targetUrl = await recreateDatabase(other.superuserUrl, "copied");
});

const tablesOf = async (client: pg.Client): Promise<string[]> => (await readTables(client)).map(({ name }) => name);

describe("copying a database", { timeout: 120_000 }, () => {
  it("copies each row, partition, trigger and foreign key, and creates the schema that the service expects", async () => {
    const seen = new Map<string, number>();
    const copy = await copyDatabase({ sourceUrl, targetUrl, copied: (table, rows) => seen.set(table, rows) });
    expect(copy.rows).toBeGreaterThan(ROWS);
    expect([seen.get("delivery"), seen.get("audit_event"), seen.get("audit_unsealed")]).toEqual([ROWS, 1, 1]);

    const target = await open(targetUrl);
    expect(await pendingMigrations(targetUrl)).toEqual([]);
    for (const table of await readTables(source))
      expect([table.name, await readContents(target, table)]).toEqual([table.name, await readContents(source, table)]);
    const names = async (client: pg.Client) => (await readPartitions(client)).map(({ name, bounds }) => `${name} ${bounds}`);
    expect(await names(target)).toEqual(expect.arrayContaining(await names(source)));
    const { rows: strays } = await target.query("select count(*)::int as count from delivery_default");
    expect(strays).toEqual([{ count: 0 }]);

    const shape = `select concat(conname, ' ', pg_get_constraintdef(oid)) as what from pg_constraint where contype = 'f' and conparentid = 0
      union all select concat(tgrelid::regclass, ' ', tgname, ' ', tgenabled) from pg_trigger where not tgisinternal order by 1`;
    expect((await target.query(shape)).rows).toEqual((await source.query(shape)).rows);
    await expect(target.query("delete from audit_event")).rejects.toThrow(/append|audit/i);
  });

  it("leaves the new database empty when a connection breaks halfway", async () => {
    for (const whose of ["source", "target"]) {
      const killer = await open(whose === "source" ? inject("serverUrl") : other.superuserUrl);
      const broken = copyDatabase({
        sourceUrl,
        targetUrl,
        copied: (table) => {
          if (table === "audit_event")
            void killer.query(
              "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyhook copy' and datname = any ($1)",
              [[sourceUrl, targetUrl].map((url) => new URL(url).pathname.slice(1))],
            );
        },
      });
      await expect(broken).rejects.toThrow();
      expect(await tablesOf(await open(targetUrl))).toEqual([]);
    }
    expect((await copyDatabase({ sourceUrl, targetUrl })).rows).toBeGreaterThan(ROWS);
  });

  it("does not begin while the source is in use, or if it has other tables", async () => {
    const service = new pg.Client({ connectionString: sourceUrl, application_name: "keyhook" });
    await service.connect();
    await expect(copyDatabase({ sourceUrl, targetUrl })).rejects.toThrow(/still using.*Stop all its processes/);
    await service.end();
    await source.query("create table notes_of_mine (id int)");
    await expect(copyDatabase({ sourceUrl, targetUrl })).rejects.toThrow(/notes_of_mine/);
    await source.query("drop table notes_of_mine");
    expect(await tablesOf(await open(targetUrl))).toEqual([]);
  });

  it("refuses a target that it cannot use, and names the reason", async () => {
    const superuser = await open(other.superuserUrl);
    await superuser.query("drop role if exists stranger");
    await superuser.query("create role stranger login password 'stranger'");
    const asStranger = new URL(targetUrl);
    [asStranger.username, asStranger.password] = ["stranger", "stranger"];
    await expect(copyDatabase({ sourceUrl, targetUrl: asStranger.href })).rejects.toThrow(
      /the role stranger cannot create tables in copied.*alter database "copied" owner to "stranger"/,
    );
    asStranger.password = "wrong";
    await expect(copyDatabase({ sourceUrl, targetUrl: asStranger.href })).rejects.toThrow(/--to cannot be reached: password/);

    await superuser.query("drop database if exists latin");
    await superuser.query("create database latin encoding 'LATIN1' locale 'C' template template0");
    await expect(copyDatabase({ sourceUrl, targetUrl: targetUrl.replace("/copied", "/latin") })).rejects.toThrow(
      /has the encoding LATIN1/,
    );

    await (await open(targetUrl)).query("create table something (id int)");
    await expect(copyDatabase({ sourceUrl, targetUrl })).rejects.toThrow(/not empty: it has something\. Use an empty one/);
  });

  it("detects contents that differ in one character", async () => {
    const target = await open(targetUrl);
    await target.query("create table a (id int, b text); insert into a values (1, 'x'), (2, null)");
    const table = { name: "a", columns: ["b", "id"] };
    const before = await readContents(target, table);
    await target.query("update a set b = 'y' where id = 1");
    const after = await readContents(target, table);
    expect([before.rows, after.rows]).toEqual(["2", "2"]);
    expect(after.hash).not.toBe(before.hash);
  });
});
