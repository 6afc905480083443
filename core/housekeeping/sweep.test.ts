import { describe, expect, it } from "vitest";
import { db, pool } from "../db.ts";
import { newId } from "../ids.ts";
import { SWEEP_LOCK, sweep } from "./sweep.ts";
import { sweeps, sweepsOfMinute } from "./sweeps.ts";

const never = new AbortController().signal;

describe("sweep", () => {
  it("has valid SQL conditions, and deletes nothing in a new installation", async () => {
    expect(await sweep(never)).toEqual({});
    const { rows } = await pool().query<{ table: string }>(
      "select table_name as table from information_schema.tables where table_schema = 'public'",
    );
    expect(rows.map(({ table }) => table)).toEqual(expect.arrayContaining(sweeps.map(({ table }) => table)));
  });

  it("deletes expired rows, in batches, and leaves the rest", async () => {
    await pool().query(
      "insert into throttle (key, count, reset_at) select 'old-' || n, 1, now() - interval '1 second' from generate_series(1, 2500) n",
    );
    await pool().query("insert into throttle (key, count, reset_at) values ('new', 1, now() + interval '1 minute')");
    const letter = { recipient: "a@example.com", subject: "s", text: "t" };
    const days = (count: number) => new Date(Date.now() - count * 86_400_000);
    await db().mail.createMany({
      data: [
        { ...letter, id: newId(), sentAt: days(8) },
        { ...letter, id: newId(), sentAt: days(6) },
        { ...letter, id: newId(), createdAt: days(40) },
      ],
    });
    expect(await sweep(never)).toEqual({ throttle: 2500, mail: 1 });
    expect(await db().throttle.findMany()).toMatchObject([{ key: "new" }]);
    expect(await db().mail.count()).toBe(2);
  });

  it("leaves a locked row for the next time, without waiting", async () => {
    await pool().query("delete from throttle");
    await pool().query("insert into throttle (key, count, reset_at) select n::text, 1, now() from generate_series(1, 3) n");
    const other = await pool().connect();
    try {
      await other.query("begin; update throttle set count = 2 where key = '2'");
      expect(await sweep(never)).toEqual({ throttle: 2 });
    } finally {
      await other.query("rollback");
      other.release();
    }
    expect(await sweep(never)).toEqual({ throttle: 1 });
  });

  it("keeps documents that people use and, for a while, the latest ten thousand unused ones (S79)", async () => {
    await pool().query(`insert into oauth_client_document (client_id, host, metadata, fetched_at, fresh_until, last_seen_at)
      select 'https://a.example/' || n, 'a.example', '{}', now(), now(), now() - make_interval(secs => n)
        from generate_series(1, 10003) n`);
    await pool().query("update oauth_client_document set last_seen_at = now() - interval '8 days' where client_id like '%/1'");
    await pool().query(`insert into oauth_consent (id, user_id, client_id, client_fingerprint) select
      client_id, 'somebody', client_id, '' from oauth_client_document where client_id in ('https://a.example/10003')`);
    expect(await sweep(never)).toEqual({ oauth_client_document: 2 });
    const { rows } = await pool().query<{ id: number }>(
      "select id from generate_series(1, 10003) n(id) where 'https://a.example/' || id not in (select client_id from oauth_client_document)",
    );
    expect(rows.map(({ id }) => id)).toEqual([1, 10002]);
    await pool().query("delete from oauth_client_document");
  });

  it("deletes an expired jti at once, and a device code an hour after its expiry (S143, S62)", async () => {
    await pool().query(`insert into oauth_artifact (model, id_hash, payload, expires_at)
      select model, model || minutes, '{}', now() - make_interval(mins => minutes)
        from unnest(array['ReplayDetection', 'DeviceCode']) model, unnest(array[-1, 1, 61]) minutes`);
    expect(await sweep(never, sweepsOfMinute)).toEqual({ oauth_artifact: 2 });
    expect(await sweep(never)).toEqual({ oauth_artifact: 1 });
    const { rows } = await pool().query("delete from oauth_artifact returning id_hash");
    expect(rows.map(({ id_hash }) => id_hash).sort()).toEqual(["DeviceCode-1", "DeviceCode1", "ReplayDetection-1"]);
  });

  it("deletes counts of apps after 400 days, and revocations of tokens that no longer exist (S143)", async () => {
    await pool().query(
      `insert into oauth_app_usage (client_id, day) select 'app', current_date - days from unnest(array[0, 400, 401]) days`,
    );
    await pool().query("insert into organization (id, name, full_name) values ('org', 'org', 'Org')");
    await pool().query(`insert into personal_access_token (id, user_id, name, token_hash, last4, scopes)
      values ('kept', 'u', 'n', 'h', 'last', '{}')`);
    await pool().query(`insert into organization_revoked_token (org_id, token_id, user_id, created_at)
      select 'org', id, 'u', now() - interval '3 days' from unnest(array['kept', 'gone']) id`);
    expect(await sweep(never)).toEqual({ oauth_app_usage: 1, organization_revoked_token: 1 });
    await pool().query("delete from organization");
    await pool().query("delete from personal_access_token");
    await pool().query("delete from oauth_app_usage");
  });

  it("keeps the output of the 200 Spaces of each user that changed last (S137)", async () => {
    await pool().query(`insert into repo (id, type, owner_id, owner_kind, name, name_canonical, tags, sdk)
      select 'space-' || n, 'space', 'owner', 'organization', n, n, '{}', 'static' from generate_series(1, 203) n`);
    await pool().query(`insert into space_runtime (repo_id, owner_id, stage)
      select 'space-' || n, 'owner', 'STOPPED' from generate_series(1, 203) n on conflict (repo_id) do nothing`);
    await pool().query(`update space_runtime set started_by_id = case n when 203 then 'bea' else 'ada' end,
      updated_at = now() - make_interval(secs => n) from generate_series(1, 203) n where repo_id = 'space-' || n`);
    await pool().query("insert into space_log (repo_id, id, text) select id, 'one', 'text' from repo where owner_id = 'owner'");
    expect(await sweep(never)).toEqual({ space_log: 2 });
    const { rows } = await pool().query(
      "select repo_id from space_log where repo_id in ('space-200', 'space-201', 'space-203') order by 1",
    );
    expect(rows).toEqual([{ repo_id: "space-200" }, { repo_id: "space-203" }]);
    await pool().query("delete from repo where owner_id = 'owner'");
    await pool().query("delete from repo_removal");
  });

  it("continues with the other tables when the statement for one fails", async () => {
    await pool().query("insert into throttle (key, count, reset_at) values ('old', 1, now() - interval '1 second')");
    const plan = [{ table: "mail", isOver: "no_such_column" }, ...sweeps];
    expect(await sweep(never, plan)).toEqual({ throttle: 1 });
  });

  it("does nothing while another process sweeps", async () => {
    await pool().query("insert into throttle (key, count, reset_at) values ('old', 1, now() - interval '1 second')");
    const other = await pool().connect();
    await other.query("select pg_advisory_lock($1)", [SWEEP_LOCK]);
    expect(await sweep(never)).toEqual({});
    await other.query("select pg_advisory_unlock($1)", [SWEEP_LOCK]);
    other.release();
    expect(await sweep(never)).toEqual({ throttle: 1 });
  });
});
