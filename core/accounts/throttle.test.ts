import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { db, pool } from "../db.ts";
import { newId } from "../ids.ts";
import { addressKey } from "./address-key.ts";
import { outcomes } from "./testing/people.ts";
import {
  clearThrottle,
  consumeAddressThrottle,
  consumeBytes,
  consumeInBlocks,
  consumeThrottle,
  consumeThrottles,
  throttleCount,
  throttleKey,
} from "./throttle.ts";

const limit = { limit: 3, windowSeconds: 60 };

describe("S56 consumeThrottle", () => {
  test("allows the limit's number of attempts and then says how long to wait", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 3; i++) await consumeThrottle(key, limit);
    await expect(consumeThrottle(key, limit)).rejects.toMatchObject({
      code: "rate_limited",
      status: 429,
      retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 50 && seconds <= 60),
      message: expect.stringMatching(/^Too many attempts\. Try again in \d+ seconds\.$/),
    });
  });

  test("counts every attempt, even in parallel", async () => {
    const key = throttleKey("test", newId());
    const ends = await outcomes(Array.from({ length: 40 }, () => consumeThrottle(key, limit)));
    expect(ends.filter((end) => end === "ok")).toHaveLength(3);
  });

  test("S137 a number that is too large for the column is refused and does not fail other attempts", async () => {
    const [key, other] = [throttleKey("test", newId()), throttleKey("test", newId())];
    await consumeBytes(key, "abc", limit);
    await pool().query("UPDATE throttle SET count = 2147483600 WHERE key = $1", [key]);
    const [own, others] = await Promise.allSettled([consumeBytes(key, "x".repeat(100), limit), consumeThrottle(other, limit)]);
    expect(own).toMatchObject({ status: "rejected", reason: { code: "rate_limited" } });
    expect(others.status).toBe("fulfilled");
  });

  test("a refused attempt does not extend the window", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 9; i++) await consumeThrottle(key, limit).catch(() => undefined);
    await db().throttle.update({ where: { key }, data: { resetAt: new Date(Date.now() - 1) } });
    await expect(consumeThrottle(key, limit)).resolves.toMatchObject({ count: 1 });
    expect((await db().throttle.findUniqueOrThrow({ where: { key } })).count).toBe(1);
  });

  test("returned and cleared attempts no longer count", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 2; i++) await consumeThrottle(key, limit);
    await (await consumeThrottle(key, limit)).giveBack();
    await consumeThrottle(key, limit);
    await expect(consumeThrottle(key, limit)).rejects.toMatchObject({ code: "rate_limited" });
    await clearThrottle(key);
    await expect(consumeThrottle(key, limit)).resolves.toMatchObject({ count: 1 });
  });

  test("S143 an attempt that another counter refuses leaves no row", async () => {
    const [full, other] = [throttleKey("test", newId()), throttleKey("test", newId())];
    for (let i = 0; i < 3; i++) await consumeThrottle(full, limit);
    await expect(
      consumeThrottles([
        [other, limit],
        [full, limit],
      ]),
    ).rejects.toMatchObject({ code: "rate_limited" });
    expect(await db().throttle.findUnique({ where: { key: other } })).toBeNull();
  });

  test("an attempt that is given back after its window is not subtracted from the next window", async () => {
    const key = throttleKey("test", newId());
    const early = await consumeThrottle(key, limit);
    await db().throttle.update({ where: { key }, data: { resetAt: new Date(Date.now() - 1) } });
    // The column has milliseconds, so windows that begin in the same millisecond are not distinguished.
    await delay(2);
    for (let i = 0; i < 2; i++) await consumeThrottle(key, limit);
    await early.giveBack();
    expect(await throttleCount(key)).toBe(2);
  });

  test("consumeInBlocks enforces the limit and writes once for many attempts", async () => {
    const [key, many] = [throttleKey("test", newId()), { limit: 250, windowSeconds: 60 }];
    await consumeInBlocks(key, many);
    expect(await throttleCount(key)).toBe(3);
    const ends = await outcomes(Array.from({ length: 300 }, () => consumeInBlocks(key, many)));
    expect(ends.filter((end) => end === "ok")).toHaveLength(249);
    await expect(consumeInBlocks(key, many)).rejects.toMatchObject({ code: "rate_limited", status: 429 });
    await expect(consumeThrottle(key, many)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("addresses are counted by /64, and all networks of a /48 together may make ten times as many attempts", async () => {
    const kind = `test-${newId()}`;
    const attempts = async (ip: string, times: number) =>
      (await outcomes(Array.from({ length: times }, () => consumeAddressThrottle(kind, ip, limit)))).filter(
        (end) => end === "ok",
      );
    for (let network = 0; network < 10; network++) {
      expect(await attempts(`2001:db8:1:${network}::1`, 4)).toHaveLength(3);
    }
    expect(await attempts("2001:db8:1:ffff::1", 1)).toHaveLength(0);
    expect(await throttleCount(throttleKey(kind, "2001:db8:1:ffff::/64"))).toBe(0);
    expect(await attempts("2001:db8:2::1", 1)).toHaveLength(1);
    expect(await attempts("192.0.2.1", 4)).toHaveLength(3);
    await expect(consumeAddressThrottle(kind, null, limit)).resolves.toEqual([]);
  });

  test("attempts that deadlock with another change of the rows are counted once each", async () => {
    const kind = `test-${newId()}`;
    const unordered = ["a", "b"].map((subject) => throttleKey(kind, subject));
    const attempt = () => Promise.all(unordered.map((key) => consumeThrottle(key, limit)));
    await attempt();
    const { rows } = await pool().query<{ key: string }>("select key from throttle where key = any ($1) order by key", [
      unordered,
    ]);
    const [first, last] = rows.map(({ key }) => key);
    const other = await pool().connect();
    try {
      const change = (key = "") => other.query("update throttle set reset_at = reset_at where key = $1", [key]);
      await other.query("begin");
      await change(last);
      const counted = attempt();
      // Waits until the attempt waits for the last row, so that Postgres aborts the attempt.
      await vi.waitFor(async () => {
        const waiting = await pool().query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'INSERT INTO throttle%'",
        );
        expect(waiting.rowCount).toBe(1);
      });
      const [changed] = await Promise.all([change(first).finally(() => other.query("rollback")), counted]);
      expect(changed.rowCount).toBe(1);
    } finally {
      other.release();
    }
    expect(await Promise.all(unordered.map(throttleCount))).toEqual([2, 2]);
  });

  test("the table holds no address and no login", async () => {
    const key = throttleKey("test", "ada@example.test");
    await consumeThrottle(key, limit);
    expect(JSON.stringify(await db().throttle.findMany())).not.toContain("ada@");
  });
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::9", "2001:db8:1:3::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["not an address", undefined],
  [null, undefined],
])("S115 %s counts as %s", (ip, key) => {
  expect(addressKey(ip)).toBe(key);
});
