import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { pool } from "#core/db.ts";
import { stopListening } from "#core/notifications.ts";
import { claimRows, type LeasedTable, renewClaims } from "#core/postgres/leased-table.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { type Loop, POLL_MS, startLoop, type Work } from "./loop.ts";

type Task = { id: string; attempts: number };
const table: LeasedTable = { name: "task", isOpen: "done_at is null" };

const add = (id: string, due = "now()") => pool().query(`insert into task (id, due_at) values ($1, ${due})`, [id]);
const announce = () => pool().query("select pg_notify('task', '')");
const done = async () =>
  (await pool().query<{ id: string }>("select id from task where done_at is not null order by done_at")).rows.map(({ id }) => id);
const pollsUntilNow = () => Math.floor(performance.now() / POLL_MS);
const record = (id: string, claimId: string) =>
  pool().query("update task set done_at = clock_timestamp() where id = $1 and claim_id = $2", [id, claimId]);

async function loop(run: Work<Task>["run"], concurrency = 4): Promise<Loop> {
  const started = await startLoop<Task>({ table, channel: "task", concurrency, run });
  onTestFinished(() => started.stop());
  return started;
}

beforeEach(async () => {
  await asOwner(
    `drop table if exists task;
     create table task (id text primary key, due_at timestamptz not null, attempts int not null default 0,
       claim_id text, claimed_until timestamptz, done_at timestamptz);
     grant all on task to public`,
  );
});
afterAll(stopListening);

describe("a loop over leased rows", () => {
  it("does existing work, then announced work, without waiting for its poll", async () => {
    await add("a");
    await loop(async ({ id }, claimId) => void (await record(id, claimId)));
    await vi.waitFor(async () => expect(await done()).toEqual(["a"]));
    // All polls of a process come at the same moments, and most notifications arrive before the next poll.
    const polls: number[] = [];
    for (const id of ["b", "c", "d", "e", "f"]) {
      const before = pollsUntilNow();
      await add(id);
      await announce();
      await vi.waitFor(async () => expect(await done()).toContain(id), { timeout: 10_000, interval: 10 });
      polls.push(pollsUntilNow() - before);
    }
    expect(polls).toContain(0);
  });

  it("finds rows that fall due by the clock", async () => {
    await add("later", "now() + interval '1 second'");
    await loop(async ({ id }, claimId) => void (await record(id, claimId)));
    await vi.waitFor(async () => expect(await done()).toEqual(["later"]));
    expect((await pool().query("select from task where done_at < due_at")).rowCount).toBe(0);
  });

  it("works on each row once, and on no more rows at once than it may, even with two loops", async () => {
    for (let each = 0; each < 40; each++) await add(`task-${each}`);
    const runs: string[] = [];
    let now = 0;
    let most = 0;
    const run: Work<Task>["run"] = async ({ id }, claimId) => {
      most = Math.max(most, ++now);
      await delay(5);
      runs.push(id);
      await record(id, claimId);
      now--;
    };
    await Promise.all([loop(run, 3), loop(run, 3)]);
    await vi.waitFor(async () => expect(await done()).toHaveLength(40));
    expect(runs.sort()).toEqual([...new Set(runs)].sort());
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(6);
  });

  it("continues when one row's work throws, and leaves that row to a later claim", async () => {
    await add("bad", "now() - interval '1 minute'");
    await add("good");
    await loop(async ({ id }, claimId) => {
      if (id === "bad") throw new Error("broken");
      await record(id, claimId);
    }, 1);
    await vi.waitFor(async () => expect(await done()).toEqual(["good"]));
    await pool().query("update task set claimed_until = now() - interval '1 second' where id = 'bad'");
    await vi.waitFor(async () => {
      const { rows } = await pool().query<Task>("select attempts from task where id = 'bad'");
      expect(rows[0]?.attempts).toBe(2);
    });
  });

  it("finishes work in progress before it stops, and claims nothing afterwards", async () => {
    await add("slow");
    const started = await loop(async ({ id }, claimId) => {
      await delay(300);
      await record(id, claimId);
    });
    await vi.waitFor(async () => expect((await pool().query("select from task where claim_id is not null")).rowCount).toBe(1));
    await add("late");
    await started.stop();
    expect(await done()).toEqual(["slow"]);
  });
});

describe("a claim", () => {
  it("S122 excludes others during the lease, and is taken over within 30 seconds of a worker's death", async () => {
    await add("a");
    const first = await claimRows<Task>(table, 10);
    expect(first.rows).toMatchObject([{ id: "a", attempts: 1 }]);
    expect((await claimRows(table, 10)).rows).toEqual([]);
    const { rows } = await pool().query<{ seconds: number }>(
      "select extract(epoch from claimed_until - now())::float as seconds from task",
    );
    expect(rows[0]?.seconds).toBeGreaterThan(20);
    expect(rows[0]?.seconds).toBeLessThanOrEqual(30);
    await pool().query("update task set claimed_until = now()");
    expect((await claimRows<Task>(table, 10)).rows).toMatchObject([{ id: "a", attempts: 2 }]);
  });

  it("is kept by renewal, but not by a worker that has lost the claim", async () => {
    await add("a");
    const stale = await claimRows<Task>(table, 1);
    await pool().query("update task set claimed_until = now() + interval '1 second'");
    await renewClaims(table, [stale.claimId]);
    await pool().query("update task set claimed_until = claimed_until - interval '30 seconds'");
    const fresh = await claimRows<Task>(table, 1);
    expect(fresh.rows).toHaveLength(1);
    await pool().query("update task set claimed_until = now() + interval '1 second'");
    await renewClaims(table, [stale.claimId]);
    const { rows } = await pool().query<{ seconds: number }>(
      "select extract(epoch from claimed_until - now())::float as seconds from task",
    );
    expect(rows[0]?.seconds).toBeLessThan(2);
    await record("a", stale.claimId);
    expect(await done()).toEqual([]);
    await record("a", fresh.claimId);
    expect(await done()).toEqual(["a"]);
  });
});
