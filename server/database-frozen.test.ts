import { afterAll, beforeAll, expect, test } from "vitest";
import { isDatabaseDown } from "#core/database-errors.ts";
import { closeConnections, inTransaction, pool } from "#core/db.ts";
import { databaseUrl, provideSettings } from "#core/env.ts";
import { startCuttableProxy } from "#core/oauth/testing/cuttable-proxy.ts";
import { openPool } from "#core/open-pool.ts";

let proxy: Awaited<ReturnType<typeof startCuttableProxy>>;
const direct = databaseUrl();

beforeAll(async () => {
  proxy = await startCuttableProxy(direct);
  provideSettings({ DATABASE_URL: proxy.url });
});
afterAll(async () => {
  await closeConnections();
  await proxy.stop();
  provideSettings({ DATABASE_URL: direct });
});

test("S51 a connection to a database server that freezes is replaced", async () => {
  const connections = openPool({ application_name: "test", statement_timeout: 1 });
  await connections.query("select 1");
  proxy.freeze();
  const error = await connections.query("select 1").catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: "ETIMEDOUT" });
  expect(isDatabaseDown(error)).toBe(true);
  expect(connections.totalCount).toBe(0);
  expect(await connections.query("select 1")).toMatchObject({ rowCount: 1 });
  await connections.end();
}, 60_000);

test("S51 a connection whose server has become a standby is not used again", async () => {
  const pidOf = async () => (await pool().query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
  const before = await pidOf();
  const error = await inTransaction(async (tx) => {
    await tx.$executeRaw`set transaction read only`;
    await tx.$executeRaw`delete from throttle`;
  }).catch((problem: unknown) => problem);
  expect(isDatabaseDown(error)).toBe(true);
  expect(await pidOf()).not.toBe(before);
});
