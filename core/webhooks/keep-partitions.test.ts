import { beforeEach, expect, it } from "vitest";
import { pool } from "../db.ts";
import { firstIdAt, newOrderedId } from "../ids.ts";
import { asOwner } from "../testing/as-owner.ts";
import { keepPartitions } from "./keep-partitions.ts";

const DAY_MS = 86_400_000;
const today = Date.now() - (Date.now() % DAY_MS);
const inDays = (days: number) => today + days * DAY_MS;
const nameOf = (days: number) => new Date(inDays(days)).toISOString().slice(0, 10).replaceAll("-", "");

async function days(table: string): Promise<string[]> {
  const { rows } = await pool().query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1",
    [table],
  );
  return rows.map(({ name }) => name.slice(table.length + 1)).filter((day) => day !== "default");
}

async function deliver(at: number): Promise<string> {
  const id = newOrderedId(at);
  await pool().query(
    `insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state)
      values ($1, 'w', 'o', 'e', 'event', 'repo', 'update', 'r', 'model', 'ada/tides', 'waiting')`,
    [id],
  );
  await pool().query(
    `insert into attempt (id, delivery_id, webhook_id, owner_id, number, kind, started_at, outcome, total_ms)
      values ($1, $2, 'w', 'o', 1, 'first', now(), 'delivered', 5)`,
    [newOrderedId(at), id],
  );
  return id;
}

const tableOf = async (id: string) =>
  (await pool().query<{ name: string }>("select tableoid::regclass::text as name from delivery where id = $1", [id])).rows[0]
    ?.name;

beforeEach(async () => {
  await keepPartitions();
  await pool().query("delete from delivery");
  await pool().query("delete from attempt");
});

it("creates partitions before their day begins, drops those that are older than 30 days, and leaves the others", async () => {
  const [kept, newest] = [await deliver(inDays(0)), await deliver(Date.now())];
  await asOwner(`select make_delivery_partitions('${new Date(inDays(-33)).toISOString()}'::date, current_date)`);
  const [gone, edge] = [await deliver(inDays(-31) + 5_000), await deliver(inDays(-30))];
  expect(await tableOf(gone)).toBe(`delivery_${nameOf(-31)}`);
  const { dropped } = await keepPartitions();
  expect(dropped).toEqual([-33, -32, -31].flatMap((day) => [`attempt_${nameOf(day)}`, `delivery_${nameOf(day)}`]));
  expect(await tableOf(gone)).toBeUndefined();
  expect(await Promise.all([edge, kept, newest].map(tableOf))).toEqual([-30, 0, 0].map((day) => `delivery_${nameOf(day)}`));
  expect((await days("delivery")).at(-1)).toBe(nameOf(7));
  expect(await days("attempt")).toEqual(await days("delivery"));
  expect(await keepPartitions()).toEqual({ made: 0, dropped: [] });
});

it("moves rows from the default partition into new partitions after a long time without partitions", async () => {
  const [soon, later] = [await deliver(inDays(20)), await deliver(inDays(20) + DAY_MS - 1)];
  const far = await deliver(inDays(300));
  expect(await tableOf(soon)).toBe("delivery_default");
  expect((await keepPartitions(inDays(20))).made).toBeGreaterThan(0);
  expect(await Promise.all([soon, later, far].map(tableOf))).toEqual([20, 20, 300].map((day) => `delivery_${nameOf(day)}`));
  const { rows } = await pool().query<{ count: number }>(
    "select (select count(*) from only delivery_default)::int + (select count(*) from only attempt_default)::int as count",
  );
  expect(rows[0]?.count).toBe(0);
  const indexesOf = async (name: string) => (await pool().query("select from pg_indexes where tablename = $1", [name])).rowCount;
  expect(await indexesOf(`delivery_${nameOf(20)}`)).toBe(await indexesOf("delivery"));
  expect(firstIdAt(new Date(inDays(20))) <= soon).toBe(true);
});

it("gives up when it has waited too long for a lock, and leaves the rest for the next time", async () => {
  await asOwner(
    `select make_delivery_partitions('${new Date(inDays(-40)).toISOString()}'::date, '${new Date(inDays(-40)).toISOString()}'::date)`,
  );
  const reader = await pool().connect();
  try {
    await reader.query("begin; select count(*) from delivery");
    await expect(keepPartitions()).rejects.toThrow("lock timeout");
    await deliver(Date.now());
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  expect((await keepPartitions()).dropped).toContain(`delivery_${nameOf(-40)}`);
});
