import { expect, onTestFinished, test, vi } from "vitest";
import { isDatabaseDown } from "./database-errors.ts";
import { db, inPreparedTransaction, inTransaction, pool, withConnection } from "./db.ts";
import { provideSettings } from "./env.ts";
import { newId } from "./ids.ts";
import { requestContext } from "./log.ts";
import { listen, notify, stopListening } from "./notifications.ts";
import { asOwner } from "./testing/as-owner.ts";
import { secondConnections } from "./testing/second-connections.ts";

test("an error of a transaction means that the database is down only if no connection was free in time", async () => {
  const taken = await Promise.all(Array.from({ length: pool().options.max ?? 10 }, () => pool().connect()));
  const waited = db().$transaction(async () => undefined, { maxWait: 10 });
  await expect(waited).rejects.toMatchObject({ code: "P2028" });
  await expect(waited.catch(isDatabaseDown)).resolves.toBe(true);
  for (const client of taken) client.release();
  const slow = db().$transaction((tx) => tx.$queryRaw`select pg_sleep(0.2)`, { timeout: 10 });
  await expect(slow.catch(isDatabaseDown)).resolves.toBe(false);
});

const secondConnection = expect.objectContaining({ name: "SecondConnectionError" });

test("code in a transaction cannot ask the pool for a second connection, which could deadlock", async () => {
  await expect(db().$transaction(async () => db().user.count())).rejects.toEqual(secondConnection);
  await expect(inTransaction(async () => pool().query("select 1"))).rejects.toEqual(secondConnection);
  await expect(withConnection(async () => pool().query("select 1"))).rejects.toEqual(secondConnection);
  expect(secondConnections()).toHaveLength(3);
  await expect(db().$transaction(async (tx) => tx.user.count())).resolves.toBe(0);
});

test("in production, asking for a second connection is logged instead of refused", async () => {
  provideSettings({ NODE_ENV: "production" });
  onTestFinished(() => void provideSettings({ NODE_ENV: "test" }));
  await expect(db().$transaction(async () => db().user.count())).resolves.toBe(0);
  expect(secondConnections()).toHaveLength(1);
});

test("work that a transaction does not await may use the pool after the transaction", async () => {
  const over = Promise.withResolvers<void>();
  let later: Promise<number> | undefined;
  await db().$transaction(async () => {
    later = over.promise.then(() => db().user.count());
  });
  over.resolve();
  await expect(later).resolves.toBe(0);
});

test("a callback waits for the commit, even if a Next page with its own module instances registered it", async () => {
  await db().$transaction(async () => undefined);
  vi.resetModules();
  const { afterCommit } = await import("./db.ts");
  const done: string[] = [];
  await db().$transaction(async (tx) => {
    afterCommit(tx, () => done.push("next"));
    done.push("work");
  });
  expect(done).toEqual(["work", "next"]);
});

test("a transaction that waited too long for another transaction's lock may be tried again", async () => {
  const holder = await pool().connect();
  await holder.query("BEGIN");
  await holder.query("SELECT pg_advisory_xact_lock(4711)");
  const waited = db().$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL lock_timeout = '10ms'`;
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(4711)`;
  });
  const isDown = await waited.catch(isDatabaseDown);
  await holder.query("ROLLBACK");
  holder.release();
  expect(isDown).toBe(true);
});

test("S137 any number of waiting statements of one caller leaves connections to others", async () => {
  const as = <T>(name: string, work: () => Promise<T>) =>
    requestContext.run({ requestId: "test", party: { key: `account ${name}`, isAnonymous: false } }, work);
  const holder = await pool().connect();
  await holder.query("SELECT pg_advisory_lock(4712)");
  const slow = () => db().$transaction((tx) => tx.$executeRaw`SELECT pg_advisory_xact_lock(4712)`);
  const asked = Promise.allSettled(Array.from({ length: 40 }, () => as("greedy", slow)));
  await expect.poll(() => pool().totalCount).toBeGreaterThan(5);
  for (const name of ["one", "another"]) expect(await as(name, () => db().user.count())).toBe(0);
  const refused = as("greedy", () => pool().query("SELECT 1"));
  expect(await refused.catch(isDatabaseDown)).toBe(true);
  await holder.query("SELECT pg_advisory_unlock(4712)");
  holder.release();
  const failed = (await asked).filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(40 - failed.length).toBe((pool().options.max ?? 0) / 2);
  for (const { reason } of failed) expect(isDatabaseDown(reason)).toBe(true);
  expect(await as("greedy", () => db().user.count())).toBe(0);
});

test("S137 notifications of all callers do not wait behind the statements of one", async () => {
  onTestFinished(stopListening);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const asCaller = <T>(work: () => T): T => requestContext.run({ requestId: "", ip: "203.0.113.1" }, work);
  await asCaller(() => listen("tides", () => resolve(requestContext.getStore())));
  const slow = asCaller(() => Array.from({ length: 20 }, () => pool().query("select pg_sleep(0.5)")));
  const first = Promise.race(slow).then(() => "a statement is over");
  asCaller(() => notify("tides"));
  expect(await Promise.race([promise, first])).toBeUndefined();
  await Promise.all(slow);
});

test("a prepared transaction plans its statements once, whatever their values", async () => {
  const plans = await inPreparedTransaction(async (tx) => {
    const read = (ids: string[]) =>
      tx.$queryRaw`SELECT r.id AS planned_once FROM unnest(${ids}::text[]) AS i(id) JOIN repo r USING (id)`;
    for (const count of [1, 2, 3]) await read(Array.from({ length: count }, newId));
    return () =>
      tx.$queryRaw<{ generic: number; custom: number }[]>`
        SELECT generic_plans::int AS generic, custom_plans::int AS custom FROM pg_prepared_statements WHERE statement LIKE 'SELECT r.id AS planned_once%'`;
  });
  expect(plans).toEqual([{ generic: 3, custom: 0 }]);
});

test("a connection prepares a statement of Prisma's once, unless the statement has a long list of values", async () => {
  const long = Array.from({ length: 40 }, newId);
  const prepared = await inTransaction(async (tx) => {
    for (const _ of [1, 2, 3]) await tx.collection.findMany({ where: { id: newId() } });
    for (const _ of [1, 2]) await tx.collection.findMany({ where: { id: { in: long } } });
    return tx.$queryRaw<{ plans: bigint }[]>`
      SELECT generic_plans + custom_plans AS plans FROM pg_prepared_statements
      WHERE statement LIKE ${'%FROM "public"."collection"%'}`;
  });
  expect(prepared).toEqual([{ plans: 3n }]);
});

test("a statement whose column got another type fails once, and its connection ends", async () => {
  await asOwner("CREATE TABLE changing (at int); GRANT SELECT ON changing TO public");
  const read = () => inTransaction((tx) => tx.$queryRaw`SELECT at FROM changing`);
  await read();
  await asOwner("ALTER TABLE changing ALTER at TYPE text");
  await expect(read()).rejects.toThrow("cached plan");
  await expect(read()).resolves.toEqual([]);
});
