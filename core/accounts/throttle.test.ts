import { describe, expect, test } from "vitest";
import { db } from "../db.ts";
import { newId } from "../ids.ts";
import { addressKey } from "./address-key.ts";
import { outcomes } from "./testing/people.ts";
import { clearThrottle, consumeAddressThrottle, consumeThrottle, throttleCount, throttleKey } from "./throttle.ts";

const limit = { limit: 3, windowSeconds: 60 };

describe("S56 consumeThrottle", () => {
  test("lets as many through as allowed, then says how long to wait", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 3; i++) await consumeThrottle(key, limit);
    await expect(consumeThrottle(key, limit)).rejects.toMatchObject({
      code: "rate_limited",
      status: 429,
      retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 50 && seconds <= 60),
      message: expect.stringMatching(/^Too many attempts\. Try again in \d+ seconds\.$/),
    });
  });

  test("counts in parallel without losing any", async () => {
    const key = throttleKey("test", newId());
    const ends = await outcomes(Array.from({ length: 40 }, () => consumeThrottle(key, limit)));
    expect(ends.filter((end) => end === "ok")).toHaveLength(3);
  });

  test("a refused attempt does not make the wait longer, and the window ends", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 9; i++) await consumeThrottle(key, limit).catch(() => undefined);
    await db().throttle.update({ where: { key }, data: { resetAt: new Date(Date.now() - 1) } });
    await expect(consumeThrottle(key, limit)).resolves.toMatchObject({ count: 1 });
    expect((await db().throttle.findUniqueOrThrow({ where: { key } })).count).toBe(1);
  });

  test("what is given back counts no more; what is cleared is forgotten", async () => {
    const key = throttleKey("test", newId());
    for (let i = 0; i < 2; i++) await consumeThrottle(key, limit);
    await (await consumeThrottle(key, limit)).giveBack();
    await consumeThrottle(key, limit);
    await expect(consumeThrottle(key, limit)).rejects.toMatchObject({ code: "rate_limited" });
    await clearThrottle(key);
    await expect(consumeThrottle(key, limit)).resolves.toMatchObject({ count: 1 });
  });

  test("what is given back after its window has ended is not taken off what the next one counts", async () => {
    const key = throttleKey("test", newId());
    const early = await consumeThrottle(key, limit);
    await db().throttle.update({ where: { key }, data: { resetAt: new Date(Date.now() - 1) } });
    for (let i = 0; i < 2; i++) await consumeThrottle(key, limit);
    await early.giveBack();
    expect(await throttleCount(key)).toBe(2);
  });

  test("an address counts by its /64, and all networks of its /48 together ten times as much", async () => {
    const kind = `test-${newId()}`;
    const attempts = async (ip: string, times: number) =>
      (await outcomes(Array.from({ length: times }, () => consumeAddressThrottle(kind, ip, limit)))).filter(
        (end) => end === "ok",
      );
    for (let network = 0; network < 10; network++) {
      expect(await attempts(`2001:db8:1:${network}::1`, 4)).toHaveLength(3);
    }
    expect(await attempts("2001:db8:1:ffff::1", 1)).toHaveLength(0);
    // When the networks together have no attempts left, a single network has none either.
    expect(await throttleCount(throttleKey(kind, "2001:db8:1:ffff::/64"))).toBe(0);
    expect(await attempts("2001:db8:2::1", 1)).toHaveLength(1);
    expect(await attempts("192.0.2.1", 4)).toHaveLength(3);
    await expect(consumeAddressThrottle(kind, null, limit)).resolves.toEqual([]);
  });

  test("the table holds no address and no login", async () => {
    const key = throttleKey("test", "ada@example.test");
    await consumeThrottle(key, limit);
    expect(JSON.stringify(await db().throttle.findMany())).not.toContain("ada");
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
