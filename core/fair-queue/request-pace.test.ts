import { expect, test } from "vitest";
import { pool } from "../db.ts";
import { measureBusy, RequestPace } from "./request-pace.ts";

const PAGE = 10;

function pace({ busy = true } = {}) {
  const state = { now: 0, busy };
  const strangers = new RequestPace({ percent: 2, isBusy: () => state.busy, now: () => state.now });
  return { state, strangers, ask: (key = "one") => strangers.admit(key, PAGE) };
}

const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);
const atOnce = { waitMs: 0 };

test("a process that has time for everybody paces nobody", () => {
  const { ask, state } = pace({ busy: false });
  const next = () => {
    state.now += PAGE;
    return ask();
  };
  for (const admission of times(1_000, next)) expect(admission).toEqual(atOnce);
});

test("S137 only the caller whose work makes the process busy is paced", () => {
  const { ask, state } = pace({ busy: false });
  const admissions = times(5_000, ask).map((each) => ("waitMs" in each ? each.waitMs : "refused"));
  expect(admissions.filter((each) => each === 0).length).toBeLessThan(70);
  expect(admissions.filter((each) => each !== "refused").length).toBeLessThan(100);
  expect(times(5, () => ask("two"))).toEqual(times(5, () => atOnce));
  state.now += 200;
  expect(ask("three")).toEqual(atOnce);
  expect(ask()).toEqual({ retryAfterSeconds: 11 });
});

test("while the process is busy, each page after the fifth waits half a second longer than the one before", () => {
  const { ask, state } = pace();
  expect(times(5, ask)).toEqual(times(5, () => atOnce));
  expect(times(3, ask)).toEqual([{ waitMs: 500 }, { waitMs: 1_000 }, { waitMs: 1_500 }]);
  expect(ask("two")).toEqual(atOnce);
  state.now += 1_500;
  expect(ask()).toEqual({ waitMs: 500 });
});

test("a request that would wait for more than ten seconds is refused and not counted", () => {
  const { ask, state } = pace();
  const admissions = times(40, ask);
  expect(admissions.filter((each) => "waitMs" in each)).toHaveLength(25);
  expect(admissions.slice(25)).toEqual(times(15, () => ({ retryAfterSeconds: 11 })));
  state.now += 10_000;
  expect(ask()).toEqual({ waitMs: 500 });
});

test("a paced caller stays paced after the process has recovered, until the caller has sent little for a while", () => {
  const { ask, state } = pace();
  times(6, ask);
  state.busy = false;
  expect(ask()).toEqual({ waitMs: 1_000 });
  expect(ask("two")).toEqual(atOnce);
  state.now += 4_000;
  expect(times(40, ask)).toEqual(times(40, () => atOnce));
});

test("requests made while the process had time count for at most one burst", () => {
  const { ask, state } = pace({ busy: false });
  times(40, ask);
  state.busy = true;
  expect(ask()).toEqual({ waitMs: 500 });
});

function spentBy(keys: string[]) {
  const strangers = new RequestPace({ percent: 100, isBusy: () => true, now: () => 0 });
  for (const key of keys) times(5, () => strangers.admit(key, PAGE));
  return (key: string) => {
    const admission = strangers.admit(key, PAGE);
    if ("waitMs" in admission) void strangers.wait(key, PAGE, admission.waitMs);
    return "waitMs" in admission;
  };
}

test("at most two and a half seconds of work from all addresses wait at once", () => {
  const addresses = Array.from({ length: 300 }, (_, at) => `address ${at}`);
  const ask = spentBy(addresses);
  expect(addresses.map(ask).filter(Boolean)).toHaveLength(250);
});

test("a few addresses with full queues leave room for others", () => {
  const few = ["one", "two", "three"];
  const ask = spentBy([...few, "four"]);
  const waits = times(300, () => few.map(ask)).flat();
  expect(waits.filter(Boolean).length).toBeGreaterThan(180);
  expect(ask("four")).toBe(true);
});

test("waiting requests proceed one after another, so that together they have a quarter of the time", async () => {
  const strangers = new RequestPace({ percent: 100, isBusy: () => true });
  const startedAt = performance.now();
  const ends = await Promise.all(
    ["one", "two", "three", "four"].map((key) => strangers.wait(key, PAGE, 0).then(() => performance.now() - startedAt)),
  );
  // A timer may be a millisecond early.
  for (const [at, end] of ends.entries()) expect(end).toBeGreaterThan(at * 4 * PAGE - 2);
});

test("a process is busy while its event loop has hardly any time left", async () => {
  const isBusy = measureBusy();
  expect(isBusy()).toBe(false);
  const spin = setInterval(() => {
    for (const until = performance.now() + 50; performance.now() < until; );
  }, 1);
  await expect.poll(isBusy, { timeout: 20_000 }).toBe(true);
  clearInterval(spin);
  await expect.poll(isBusy, { timeout: 20_000 }).toBe(false);
});

test("S137 a process is busy while requests keep waiting for a database connection, even if its event loop has time", async () => {
  const isBusy = measureBusy();
  const taken = await Promise.all(Array.from({ length: pool().options.max ?? 10 }, () => pool().connect()));
  const ask = () =>
    void pool()
      .query("SELECT 1")
      .catch(() => undefined);
  ask();
  expect(isBusy()).toBe(false);
  const asking = setInterval(ask, 500);
  await expect.poll(isBusy, { timeout: 20_000 }).toBe(true);
  clearInterval(asking);
  for (const client of taken) client.release();
  await expect.poll(isBusy, { timeout: 20_000 }).toBe(false);
});

test("refunded work no longer counts, but gives a caller at most one burst", () => {
  const { ask, state, strangers } = pace();
  times(7, ask);
  times(2, () => strangers.giveBack("one", PAGE));
  expect(ask()).toEqual({ waitMs: 500 });
  times(100, () => strangers.giveBack("one", PAGE));
  expect(times(6, ask)).toEqual([...times(5, () => atOnce), { waitMs: 500 }]);
  strangers.giveBack("nobody", PAGE);
  expect(state.now).toBe(0);
});

const PIECE = 64 * 1024;

test("S137 long responses to anonymous callers take turns only while others are served", () => {
  const { ask, state, strangers } = pace({ busy: false });
  const send = (key: string, pieces: number) => times(pieces, () => strangers.sendAfter(key, PIECE));
  ask("one");
  expect(send("one", 100)).toEqual(times(100, () => 0));
  ask("two");
  ask("one");
  ask("one");
  const [first, second, third] = [...send("one", 2), ...send("three", 1)] as [number, number, number];
  expect(first).toBe(0);
  expect(second).toBeGreaterThan(0);
  expect(third).toBeCloseTo(2 * second);
  state.now += 1_000;
  expect(send("one", 100)).toEqual(times(100, () => 0));
});
