import { expect, test } from "vitest";
import { db, isDatabaseDown, pool } from "./db.ts";

test("a transaction that finds no free connection in time is told from one that failed: it may be tried again", async () => {
  const taken = await Promise.all(Array.from({ length: pool().options.max ?? 10 }, () => pool().connect()));
  const waited = db().$transaction(async () => undefined, { maxWait: 10 });
  await expect(waited).rejects.toMatchObject({ code: "P2028" });
  await expect(waited.catch(isDatabaseDown)).resolves.toBe(true);
  for (const client of taken) client.release();
  const slow = db().$transaction((tx) => tx.$queryRaw`select pg_sleep(0.2)`, { timeout: 10 });
  await expect(slow.catch(isDatabaseDown)).resolves.toBe(false);
});
