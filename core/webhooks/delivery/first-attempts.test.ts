import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { db, pool } from "../../db.ts";
import { childEnvironment, provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { parts } from "../fan-out/lease-events.ts";
import { webhookTo } from "../testing/deliveries.ts";
import { expireLeases, fanOut, someEvent } from "../testing/fan-out.ts";
import { DeliveryEngine } from "./delivery-engine.ts";
import { closeDeliveryPool } from "./delivery-pool.ts";
import { type Limits, SLOW_MS } from "./slots.ts";

beforeEach(async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1", WEBHOOK_TRIGGERS_PER_DAY: "1000" });
  for (const table of ["delivery_queue", "event", "webhook_watch", "delivery", "attempt", "webhook_hour"])
    await pool().query(`delete from ${table}`);
});

afterAll(closeDeliveryPool);

vi.setConfig({ testTimeout: 90_000 });
const SOON = { timeout: 60_000, interval: 20 };

async function startReceiver(answer: (res: ServerResponse, nth: number) => unknown = (res) => void res.end("ok")) {
  const ids: string[] = [];
  const listener: RequestListener = (req, res) => {
    ids.push(String(req.headers["webhook-id"]));
    req.resume();
    answer(res, ids.length);
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, ids };
}

function startEngine(limits?: Limits): DeliveryEngine {
  const engine = new DeliveryEngine(limits);
  engine.start();
  onTestFinished(() => engine.stop());
  return engine;
}

async function watching(url: string, ownerId: string): Promise<string> {
  const id = await webhookTo({ url });
  await db().webhookWatch.create({ data: { webhookId: id, type: "user", watchedId: ownerId } });
  return id;
}

const happens = (ownerId: string) => someEvent({ id: newId(), ownerId });
const of = (eventId: string) => db().delivery.findMany({ where: { eventId }, orderBy: { id: "asc" } });
const attempts = (deliveryId: string) => db().attempt.findMany({ where: { deliveryId } });
const queue = () => db().deliveryQueue.findMany();
const isDone = async (id: string) => (await db().event.findUniqueOrThrow({ where: { id } })).fannedOutAt !== null;
const done = (id: string) => vi.waitFor(async () => expect(await isDone(id)).toBe(true), SOON);

describe("S122 a first attempt", () => {
  it("is sent before anything is stored, and is stored once with its response", async () => {
    let stored: number | null = null;
    const open: ServerResponse[] = [];
    const receiver = await startReceiver(async (res) => {
      if (open.push(res) < 2) return;
      stored = (await pool().query("select from delivery")).rowCount;
      for (const each of open) each.writeHead(201).end("thank you");
    });
    const ownerId = newId();
    const ids = await Promise.all([1, 2].map(() => watching(receiver.url, ownerId)));
    const event = await happens(ownerId);
    startEngine();
    await done(event);
    const deliveries = await of(event);
    expect(deliveries.map(({ webhookId }) => webhookId).sort()).toEqual(ids.sort());
    for (const each of deliveries)
      expect(each).toMatchObject({ state: "delivered", attempts: 1, lastStatus: 201, repoName: "ada/tides", kind: "event" });
    expect(stored).toBe(0);
    expect([...receiver.ids].sort()).toEqual(deliveries.map(({ id }) => id).sort());
    expect(await attempts(deliveries[0]?.id ?? "")).toMatchObject([
      { number: 1, kind: "first", outcome: "delivered", nextDueAt: null },
    ]);
    expect(await queue()).toEqual([]);
    expect(await db().webhookHour.findMany({ where: { triggered: 1, delivered: 1 } })).toHaveLength(2);
  });

  it("that fails enters the queue for its retry, under the same ID", async () => {
    const receiver = await startReceiver((res, nth) => void res.writeHead(nth === 1 ? 500 : 200).end());
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    startEngine();
    await done(event);
    const [row] = await queue();
    expect(row).toMatchObject({ kind: "retry", lane: 2, tries: 1, claimId: null });
    expect(await of(event)).toMatchObject([{ id: row?.id, state: "waiting", attempts: 1, lastStatus: 500, finishedAt: null }]);
    expect(await attempts(row?.id ?? "")).toMatchObject([{ nextDueAt: row?.dueAt }]);
    // The retry follows after some five seconds, without an announcement.
    await vi.waitFor(async () => expect(await of(event)).toMatchObject([{ state: "delivered", attempts: 2 }]), SOON);
    expect(receiver.ids).toEqual([row?.id, row?.id]);
  });

  it("that is slow continues in the queue under its worker's claim, and its event is done", async () => {
    let answer: () => void = () => undefined;
    const receiver = await startReceiver((res) => (answer = () => void res.end("late")));
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    startEngine();
    await done(event);
    const [row] = await queue();
    expect(row?.claimId).not.toBe(null);
    expect(row?.claimedUntil?.getTime()).toBeGreaterThan(Date.now());
    expect(await of(event)).toMatchObject([{ id: row?.id, state: "waiting", attempts: 0 }]);
    answer();
    await vi.waitFor(async () => expect(await of(event)).toMatchObject([{ state: "delivered", attempts: 1 }]), SOON);
    expect(await queue()).toEqual([]);
    expect(receiver.ids).toEqual([row?.id]);
    expect(await attempts(row?.id ?? "")).toHaveLength(1);
  });

  it("is repeated under the same ID if its worker is killed before the attempt is recorded", async () => {
    const blocker = await pool().connect();
    const receiver = await startReceiver();
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const events = await Promise.all([1, 2, 3].map(() => happens(ownerId)));
    await blocker.query("begin; lock table delivery in exclusive mode");
    const script = `import { DeliveryEngine } from ${JSON.stringify(join(import.meta.dirname, "delivery-engine.ts"))};
      new DeliveryEngine().start();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env: childEnvironment(), stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    await vi.waitFor(() => expect(receiver.ids).toHaveLength(3), SOON);
    child.kill("SIGKILL");
    await once(child, "exit");
    await pool().query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keyhook deliveries'",
    );
    await blocker.query("rollback");
    blocker.release();
    expect(await db().delivery.count()).toBe(0);
    const { rows } = await pool().query("select claimed_until <= now() + interval '20 seconds' as soon from event");
    expect(rows).toEqual([{ soon: true }, { soon: true }, { soon: true }]);
    await expireLeases();
    startEngine();
    for (const event of events) await done(event);
    const stored = (await Promise.all(events.map(of))).flat();
    expect(stored).toHaveLength(3);
    expect(stored.every(({ state, attempts }) => state === "delivered" && attempts === 1)).toBe(true);
    expect([...receiver.ids].sort()).toEqual(stored.flatMap(({ id }) => [id, id]).sort());
    expect(await db().attempt.count()).toBe(3);
    expect(await db().webhookHour.findMany({ where: { triggered: 3, delivered: 3 } })).toHaveLength(1);
  });

  it("is made by one of several engines, and nothing is sent twice", async () => {
    const receiver = await startReceiver((res) => void setTimeout(() => res.end("ok"), 2));
    const ownerId = newId();
    await Promise.all([1, 2, 3].map(() => watching(receiver.url, ownerId)));
    for (let made = 0; made < 100; made++) await happens(ownerId);
    for (const engine of [startEngine(), startEngine()]) engine.announceEvents();
    await vi.waitFor(async () => expect(await db().delivery.count({ where: { state: "delivered" } })).toBe(300), SOON);
    expect(receiver.ids).toHaveLength(300);
    expect(new Set(receiver.ids).size).toBe(300);
    expect(await db().attempt.count()).toBe(300);
    expect(await queue()).toEqual([]);
  });

  it("S127 counts against the limit exactly, even if many are made at once", async () => {
    provideSettings({ WEBHOOK_TRIGGERS_PER_DAY: "50" });
    const receiver = await startReceiver();
    const ownerId = newId();
    const id = await watching(receiver.url, ownerId);
    for (let made = 0; made < 150; made++) await happens(ownerId);
    for (const engine of [startEngine(), startEngine()]) engine.announceEvents();
    const _sum = { triggered: true, rateLimited: true, delivered: true } as const;
    const counts = async () => (await db().webhookHour.aggregate({ where: { webhookId: id }, _sum }))._sum;
    await vi.waitFor(async () => expect(await counts()).toEqual({ triggered: 50, rateLimited: 100, delivered: 50 }), SOON);
    expect(receiver.ids).toHaveLength(50);
    expect(await db().delivery.count({ where: { state: "rate_limited" } })).toBeGreaterThanOrEqual(50);
  });

  it("S128 to an unresponsive host gets one of a few slots or waits, while a healthy host is served", async () => {
    const healthy = await startReceiver();
    const silent = await startReceiver(() => undefined);
    const limits: Limits = { total: 16, waiting: 8, perWebhook: 4, perHost: { good: 8, unknown: 3, bad: 2 } };
    const [stuckOwner, ownerId] = [newId(), newId()];
    await watching(silent.url, stuckOwner);
    await watching(healthy.url, ownerId);
    for (let made = 0; made < 100; made++) await happens(stuckOwner);
    const engine = startEngine(limits);
    await vi.waitFor(() => expect(silent.ids.length).toBeGreaterThan(0), SOON);
    const events: string[] = [];
    for (let made = 0; made < 30; made++) {
      events.push(await happens(ownerId));
      engine.announceEvents();
    }
    for (const event of events) await done(event);
    await vi.waitFor(() => expect(healthy.ids).toHaveLength(30), SOON);
    expect(silent.ids.length).toBeLessThanOrEqual(3);
    await vi.waitFor(async () => expect(await queue()).toHaveLength(100), SOON);
    await pool().query("delete from delivery_queue where claim_id is null");
  });

  it("of an event with many watchers is made from the queue, page by page, and only once", async () => {
    const receiver = await startReceiver();
    const ownerId = newId();
    for (let made = 0; made < 70; made++) await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    startEngine();
    await done(event);
    await vi.waitFor(async () => expect(await db().delivery.count({ where: { state: "delivered" } })).toBe(70), SOON);
    expect(new Set(receiver.ids).size).toBe(70);
    expect(receiver.ids).toHaveLength(70);
  });

  it("of an event with many watchers enters the queue even if this worker has no room", async () => {
    const ownerId = newId();
    for (let made = 0; made < 70; made++) await watching("http://127.0.0.1:9/", ownerId);
    const event = await happens(ownerId);
    for (const part of parts.slice(0, 1)) await fanOut(part);
    expect(await isDone(event)).toBe(false);
    const isFull: Limits = { total: 16, waiting: 0, perWebhook: 4, perHost: { good: 8, unknown: 3, bad: 2 } };
    startEngine(isFull);
    await done(event);
    expect(await of(event)).toHaveLength(70);
    await pool().query("delete from delivery_queue where claim_id is null");
  });

  it("is not repeated if a lock delays its record for longer than a statement or a lease may take", async () => {
    const receiver = await startReceiver();
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    const leasedUntil = async () => (await db().event.findUniqueOrThrow({ where: { id: event } })).claimedUntil?.getTime() ?? 0;
    const blocker = await pool().connect();
    await blocker.query("begin; lock table delivery in exclusive mode");
    startEngine();
    try {
      await vi.waitFor(() => expect(receiver.ids).toHaveLength(1), SOON);
      const first = await leasedUntil();
      const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'keyhook deliveries' and wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect((await pool().query(cancel)).rowCount).toBe(1), SOON);
      await vi.waitFor(async () => expect(await leasedUntil()).toBeGreaterThan(first), SOON);
    } finally {
      await blocker.query("rollback");
      blocker.release();
    }
    await done(event);
    expect(await of(event)).toMatchObject([{ state: "delivered", attempts: 1 }]);
    expect(receiver.ids).toHaveLength(1);
  });

  it("is recorded under the new lease if its worker lost the event and leased it again", async () => {
    let answer: () => void = () => undefined;
    const receiver = await startReceiver((res) => (answer = () => void res.end("late")));
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    const engine = startEngine();
    await vi.waitFor(() => expect(receiver.ids).toHaveLength(1), SOON);
    await db().event.update({ where: { id: event }, data: { claimId: "another" } });
    await delay(SLOW_MS + 1_000);
    expect(await queue()).toEqual([]);
    await expireLeases();
    engine.announceEvents();
    const claimId = async () => (await db().event.findUniqueOrThrow({ where: { id: event } })).claimId;
    await vi.waitFor(async () => expect(await claimId()).not.toBe("another"), SOON);
    answer();
    await done(event);
    expect(await of(event)).toMatchObject([{ state: "delivered", attempts: 1 }]);
    expect(receiver.ids).toHaveLength(1);
  });

  it("is recorded by an engine that is stopped meanwhile", async () => {
    const receiver = await startReceiver((res) => void setTimeout(() => res.end("late"), 300));
    const ownerId = newId();
    await watching(receiver.url, ownerId);
    const event = await happens(ownerId);
    const engine = startEngine();
    await vi.waitFor(() => expect(receiver.ids).toHaveLength(1), SOON);
    await engine.stop();
    expect(await of(event)).toMatchObject([{ state: "delivered" }]);
    expect(await isDone(event)).toBe(true);
  });
});
