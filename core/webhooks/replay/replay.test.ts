import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { eventPayloadSchema, testKinds, webhookPayloadSchema } from "@keyhook/sdk";
import { Webhook as Verifier } from "standardwebhooks";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { from, organizationOf, outcomes, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { ownToken } from "../../accounts/testing/tokens.ts";
import { seal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { env, provideSettings } from "../../env.ts";
import { newId, newOrderedId } from "../../ids.ts";
import { listen } from "../../notifications.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { readDelivery } from "../activity/read-delivery.ts";
import { DeliveryEngine } from "../delivery/delivery-engine.ts";
import { queueDeliveries, webhookTo } from "../testing/deliveries.ts";
import { DELIVERY_CHANNEL } from "../vocabulary.ts";
import { replayDelivery } from "./replay-delivery.ts";
import { sendTest } from "./send-test.ts";
import { cancelReplay, listReplays, readReplay, startReplay } from "./start-replay.ts";
import { type ReplayRow, replayTable, SELECTED_MAX } from "./webhook-replay.ts";
import { workReplay } from "./work-replay.ts";

vi.setConfig({ testTimeout: 120_000 });
const SOON = { timeout: 45_000 };

let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  [ada, grace] = await Promise.all([signedInPerson("ada"), signedInPerson("grace")]);
});
beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));
afterEach(() => pool().query("delete from delivery_queue"));

type Received = { headers: IncomingHttpHeaders; body: string };

async function startReceiver(statuses: number[] = []) {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req.setEncoding("utf8")) body += piece;
    received.push({ headers: req.headers, body });
    res.writeHead(statuses[received.length - 1] ?? 200).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

async function startEngine(): Promise<DeliveryEngine> {
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  onTestFinished(() => engine.stop());
  return engine;
}

async function failedDeliveries(
  webhookId: string,
  count: number,
  more: Parameters<typeof queueDeliveries>[1] = {},
): Promise<string[]> {
  const ids = await queueDeliveries(webhookId, { count, ...more });
  await pool().query("delete from delivery_queue where id = any ($1)", [ids]);
  await pool().query(
    "update delivery set state = 'failed', attempts = 1, last_outcome = 'unreachable', finished_at = now() where id = any ($1)",
    [ids],
  );
  return ids.sort();
}

const statesOf = async (ids: string[]) => {
  const { rows } = await pool().query<{ state: string; count: number }>(
    "select state, count(*)::int from delivery where id = any ($1) group by 1 order by 1",
    [ids],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

async function workOnce(): Promise<void> {
  await pool().query("update webhook_replay set due_at = now() - interval '1 second' where finished_at is null");
  const { claimId, rows } = await claimRows<ReplayRow>(replayTable, 10);
  for (const row of rows) await workReplay(row, claimId);
}

describe("a replay of one", () => {
  it("S137 waits for its result if fewer than 50 others of the same owner wait, and otherwise returns at once", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const ids = await failedDeliveries(webhookId, 53);
    const [returned, leave] = [new Set<string>(), new AbortController()];
    const calls = ids.map(async (id) => {
      const { attempt } = await replayDelivery(ada.actor, webhookId, id, from, { signal: leave.signal });
      returned.add(id);
      return attempt;
    });
    await vi.waitFor(() => expect(returned.size).toBe(3), { timeout: 15_000, interval: 20 }).finally(() => leave.abort());
    expect(await Promise.all(calls)).toEqual(ids.map(() => undefined));
    expect(await db().deliveryQueue.count({ where: { webhookId } })).toBe(53);
  });

  it("S123 S124 sends the same bytes under the same ID to the current target, signed with the current secret", async () => {
    const [old, current] = [await startReceiver([500]), await startReceiver()];
    const webhookId = await webhookTo({ url: old.url, secret: "the first of the two secrets", ownerId: ada.id });
    const [id = ""] = await queueDeliveries(webhookId, { tags: ["b", "a", 'ü "'] });
    await startEngine();
    await vi.waitFor(async () => expect(old.received).toHaveLength(1), SOON);
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    await db().webhook.update({ where: { id: webhookId }, data: { url: current.url, secret: seal("webhook secret", secret) } });

    await vi.waitFor(async () => expect(await db().attempt.count({ where: { deliveryId: id } })).toBe(1), SOON);
    const { attempt } = await replayDelivery(ada.actor, webhookId, id, from);
    expect(attempt).toMatchObject({ outcome: "delivered", status: 200, reason: null });
    expect(current.received).toHaveLength(1);
    const [first, second] = [old.received[0], current.received[0]];
    expect(second?.body).toBe(first?.body);
    expect(second?.headers["webhook-id"]).toBe(id);
    expect(first?.headers["webhook-id"]).toBe(id);
    expect([first, second].map((each) => each?.headers["x-webhook-replay"])).toEqual([undefined, "true"]);
    new Verifier(secret).verify(second?.body ?? "", second?.headers as Record<string, string>);

    const again = await replayDelivery(ada.actor, webhookId, id, from);
    expect(again.attempt).toMatchObject({ status: 200 });
    const shown = await readDelivery(ada.actor, webhookId, id);
    expect(shown).toMatchObject({ state: "delivered", attempts: 3, body: { text: first?.body } });
    expect(shown.attemptLog.map(({ kind, number }) => [kind, number])).toEqual([
      ["replay", 3],
      ["replay", 2],
      ["first", 1],
    ]);
    const [latest] = shown.attemptLog;
    expect(latest?.request?.url).toBe(current.url);
    new Verifier(secret).verify(shown.body?.text ?? "", latest?.request?.headers as Record<string, string>);
    const names = (headers: object = {}) =>
      Object.keys(headers).filter((name) => !/^(host|connection|content-length)$/.test(name));
    expect(names(latest?.request?.headers).sort()).toEqual(names(current.received[1]?.headers).sort());
    const audited = await db().auditEvent.findMany({ where: { type: "webhook.replay", actorId: ada.id } });
    expect(audited.map(({ data }) => data)).toContainEqual({ webhookId, deliveryId: id, count: 1 });
  });

  it("S127 S129 sends a delivery that was over the limit, and withholds an event that the owner cannot read", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const [over = ""] = await failedDeliveries(webhookId, 1);
    await db().delivery.update({ where: { id: over }, data: { state: "rate_limited", attempts: 0 } });
    const [lost = ""] = await failedDeliveries(webhookId, 1, { isPrivate: true, ownerId: grace.id });
    await startEngine();
    const [{ attempt: refused }, { attempt: withheld }] = await Promise.all([
      replayDelivery(ada.actor, webhookId, over, from),
      replayDelivery(ada.actor, webhookId, lost, from),
    ]);
    expect(refused).toMatchObject({ outcome: "unreachable", status: null });
    expect(refused?.reason).toMatch(/refused/);
    expect(withheld).toMatchObject({ outcome: "withheld", status: null });
    expect(await statesOf([over, lost])).toEqual({ waiting: 1, withheld: 1 });
  });

  it("without a worker is queued once, even if it is requested three times", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const [id = ""] = await failedDeliveries(webhookId, 1);
    const asked = await Promise.all([1, 2, 3].map(() => replayDelivery(ada.actor, webhookId, id, from, { waitMs: 50 })));
    expect(asked).toEqual([1, 2, 3].map(() => ({ deliveryId: id, attempt: undefined })));
    expect(await db().deliveryQueue.findMany({ where: { webhookId } })).toMatchObject([
      { id, kind: "replay", lane: 0, tries: 0 },
    ]);
    expect(await statesOf([id])).toEqual({ waiting: 1 });
    await db().deliveryQueue.update({
      where: { id },
      data: { claimId: "x", claimedUntil: new Date(Date.now() + 9_000), lane: 2 },
    });
    await replayDelivery(ada.actor, webhookId, id, from, { waitMs: 10 });
    expect(await db().deliveryQueue.findUnique({ where: { id } })).toMatchObject({ claimId: "x", lane: 2 });
    const gone = replayDelivery(ada.actor, webhookId, id, from, { signal: AbortSignal.abort() });
    expect(await gone).toEqual({ deliveryId: id, attempt: undefined });
  });

  it("S136 is refused in the same way for missing deliveries and other users' deliveries", async () => {
    const organization = await organizationOf(ada, [[grace, "write"]]);
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: organization.id, ownerKind: "organization" });
    const other = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const [id = ""] = await failedDeliveries(webhookId, 1);
    for (const attempt of [
      () => replayDelivery(grace.actor, webhookId, id, from),
      () => sendTest(grace.actor, webhookId, "repo.create", from),
      () => startReplay(grace.actor, webhookId, { deliveryIds: [id] }, from),
      () => listReplays(grace.actor, webhookId),
      () => replayDelivery(ada.actor, other, id, from),
      () => replayDelivery(ada.actor, webhookId, newId(), from),
      () => replayDelivery(ada.actor, webhookId, "x'", from),
      () => readReplay(ada.actor, webhookId, newId()),
      () => cancelReplay(ada.actor, webhookId, newId()),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: "not_found" });
    }
    await db().webhook.update({ where: { id: webhookId }, data: { disabledAt: new Date() } });
    const disabled = { code: "conflict", message: expect.stringMatching(/Enable it/) };
    await expect(replayDelivery(ada.actor, webhookId, id, from)).rejects.toMatchObject(disabled);
    await expect(startReplay(ada.actor, webhookId, { since: new Date(0) }, from)).rejects.toMatchObject(disabled);
    await db().webhook.update({ where: { id: webhookId }, data: { disabledAt: null } });
    await db().event.deleteMany();
    await expect(replayDelivery(ada.actor, webhookId, id, from)).rejects.toMatchObject({ code: "gone" });
    expect(await db().deliveryQueue.count({ where: { webhookId } })).toBe(0);
  });
});

describe("a test", () => {
  it("of each kind matches the contract, is marked as a test, and does not count toward the limit", async () => {
    const receiver = await startReceiver();
    const webhookId = await webhookTo({ url: receiver.url, secret: "of the test", ownerId: ada.id });
    const repo = { id: newId(), type: "dataset", ownerId: ada.id, ownerKind: "user", name: "tides", nameCanonical: "tides" };
    await db().repo.create({ data: { ...repo, isPrivate: true, tags: ["sea"] } });
    await db().webhookWatch.create({ data: { webhookId, type: "dataset", watchedId: repo.id } });
    await startEngine();
    const all = await Promise.all(testKinds.map((kind) => sendTest(ada.actor, webhookId, kind, from)));
    expect(all.map(({ attempt }) => attempt?.status)).toEqual(testKinds.map(() => 200));
    const payloads = receiver.received.map(({ body }) => webhookPayloadSchema.parse(JSON.parse(body)));
    expect(payloads.map(({ event }) => `${event.scope}.${event.action}`).sort()).toEqual([...testKinds].sort());
    for (const { body } of receiver.received) {
      const { webhook: _, ...payload } = JSON.parse(body);
      expect(eventPayloadSchema.parse(payload)).toEqual(payload);
      expect(payload.repo).toMatchObject({ id: repo.id, name: `${ada.username}/tides`, private: true, type: "dataset" });
    }
    expect(receiver.received.every(({ headers }) => headers["x-webhook-test"] === "true")).toBe(true);
    expect(await db().webhookHour.aggregate({ where: { webhookId }, _sum: { triggered: true } })).toEqual({
      _sum: { triggered: 0 },
    });
    const shown = await readDelivery(ada.actor, webhookId, all[0]?.deliveryId ?? "");
    expect(shown).toMatchObject({ kind: "test", state: "delivered", attemptLog: [{ kind: "test" }] });
    expect(shown.attemptLog[0]?.request?.headers["x-webhook-test"]).toBe("true");
  });

  it("is sent once by a disabled webhook, about a sample repository if no other may be named", async () => {
    const receiver = await startReceiver([500, 500]);
    const webhookId = await webhookTo({ url: receiver.url, ownerId: ada.id });
    const hidden = { id: newId(), type: "model", ownerId: grace.id, ownerKind: "user", name: "secret", nameCanonical: "secret" };
    await db().repo.create({ data: { ...hidden, isPrivate: true } });
    await db().webhookWatch.create({ data: { webhookId, type: "user", watchedId: grace.id } });
    await db().webhook.update({ where: { id: webhookId }, data: { disabledAt: new Date(), domains: ["discussion"] } });
    await startEngine();
    const { deliveryId, attempt } = await sendTest(ada.actor, webhookId, undefined, from);
    expect(attempt).toMatchObject({ outcome: "rejected", status: 500 });
    expect(await statesOf([deliveryId])).toEqual({ failed: 1 });
    const payload = JSON.parse(receiver.received[0]?.body ?? "");
    expect(payload).toMatchObject({
      event: { scope: "discussion.comment", action: "create" },
      repo: { name: "example/test", private: false },
    });
    expect(await db().deliveryQueue.count({ where: { webhookId } })).toBe(0);
  });
});

describe("a replay of many", () => {
  it("S124 sends all failed deliveries of a range again, and records its progress", async () => {
    const receiver = await startReceiver([500]);
    const webhookId = await webhookTo({ url: receiver.url, ownerId: ada.id });
    const since = new Date(Date.now() - 1_000);
    const ids = await failedDeliveries(webhookId, 40);
    const waiting = await queueDeliveries(webhookId, { count: 2, dueIn: 3_600 });
    await db().delivery.updateMany({ where: { id: { in: waiting } }, data: { state: "failed" } });
    const [delivered = ""] = await failedDeliveries(webhookId, 1);
    await db().delivery.update({ where: { id: delivered }, data: { state: "delivered" } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const started = await startReplay(ada.actor, webhookId, { since }, from);
    expect(started).toMatchObject({ of: "failed", state: "running", total: 42, queued: 0 });
    await workOnce();
    expect(await readReplay(ada.actor, webhookId, started.id)).toMatchObject({ queued: 40, state: "running" });
    expect(await db().deliveryQueue.count({ where: { webhookId, lane: 2, replayId: started.id, kind: "replay" } })).toBe(40);
    await startEngine();
    await vi.waitFor(async () => expect(await statesOf(ids)).toEqual({ delivered: 39, waiting: 1 }), SOON);
    await workOnce();
    expect(await readReplay(ada.actor, webhookId, started.id)).toMatchObject({ state: "running", delivered: 39, failed: 0 });
    await pool().query("update delivery_queue set due_at = now() where replay_id = $1", [started.id]);
    await vi.waitFor(async () => expect(await statesOf(ids)).toEqual({ delivered: 40 }), SOON);
    await workOnce();
    expect(await readReplay(ada.actor, webhookId, started.id)).toMatchObject({ state: "finished", delivered: 40, failed: 0 });
    const sent = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(sent)).toEqual(new Set(ids));
    expect(sent).toHaveLength(41);
  });

  it("of named deliveries leaves out waiting deliveries, other owners' deliveries and duplicates", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const other = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: grace.id });
    const [ids, theirs] = [await failedDeliveries(webhookId, 3), await failedDeliveries(other, 1)];
    const [waiting = ""] = await queueDeliveries(webhookId);
    const named = [...ids, ...ids, ...theirs, waiting, newOrderedId()];
    const first = await startReplay(ada.actor, webhookId, { deliveryIds: named }, from);
    expect(first).toMatchObject({ of: "selected", total: 3 });
    await workOnce();
    expect(await statesOf([...ids, ...theirs])).toEqual({ waiting: 3, failed: 1 });
    for (const deliveryIds of [[], ["x"], Array.from({ length: SELECTED_MAX + 1 }, () => newOrderedId())]) {
      await expect(startReplay(ada.actor, webhookId, { deliveryIds }, from)).rejects.toMatchObject({ code: "invalid_request" });
    }
    for (const since of [new Date(Date.now() + 9_000), new Date(Number.NaN), new Date(-1)]) {
      await expect(startReplay(ada.actor, webhookId, { since }, from)).rejects.toMatchObject({ code: "invalid_request" });
    }
    await expect(startReplay(ada.actor, webhookId, { since: new Date(0) }, from)).rejects.toMatchObject({ code: "conflict" });
    await expect(startReplay(ada.actor, webhookId, { deliveryIds: ids }, from)).rejects.toMatchObject({ code: "conflict" });
    const more = await failedDeliveries(webhookId, 5);
    const asked = await Promise.allSettled(more.map((id) => startReplay(ada.actor, webhookId, { deliveryIds: [id] }, from)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect((await listReplays(ada.actor, webhookId)).map(({ state }) => state)).toEqual(["running", "running", "running"]);
  });

  it("S136 with a token, leaves out deliveries that the token may not see", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const app = await ownToken(ada.id, ["webhooks"]);
    const hidden = await failedDeliveries(webhookId, 2, { isPrivate: true, ownerId: ada.id });
    const seen = await failedDeliveries(webhookId, 3);
    const replay = (what: Parameters<typeof startReplay>[2]) => startReplay(app, webhookId, what, from);
    const asked = Array.from({ length: 20 }, () => replay({ deliveryIds: hidden }));
    expect(await outcomes(asked)).toEqual(Array(20).fill("invalid_request"));
    expect(await replay({ deliveryIds: [...hidden, ...seen] })).toMatchObject({ total: 3 });
    expect(await replay({ since: new Date(Date.now() - 60_000) })).toMatchObject({ total: 3 });
  });

  it("that is cancelled removes its waiting deliveries from the queue and restores their states", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const ids = await failedDeliveries(webhookId, 6);
    const [over = "", done = "", kept = "", held = ""] = ids;
    await db().delivery.update({ where: { id: over }, data: { state: "rate_limited", attempts: 0, lastOutcome: null } });
    await db().delivery.update({ where: { id: done }, data: { state: "delivered", lastOutcome: "delivered" } });
    await db().delivery.update({ where: { id: kept }, data: { state: "withheld", lastOutcome: "withheld" } });
    const replay = await startReplay(ada.actor, webhookId, { deliveryIds: ids }, from);
    await workOnce();
    expect(await statesOf(ids)).toEqual({ waiting: 6 });
    await db().deliveryQueue.update({ where: { id: held }, data: { claimId: "x", claimedUntil: new Date(Date.now() + 60_000) } });
    expect(await cancelReplay(ada.actor, webhookId, replay.id)).toMatchObject({ state: "cancelled", finishedAt: null });
    expect(await statesOf(ids)).toEqual({ delivered: 1, failed: 2, rate_limited: 1, withheld: 1, waiting: 1 });
    await workOnce();
    expect(await readReplay(ada.actor, webhookId, replay.id)).toMatchObject({ state: "cancelled", finishedAt: null });
    await db().deliveryQueue.update({ where: { id: held }, data: { claimId: null, claimedUntil: null, kind: "retry" } });
    await workOnce();
    expect(await statesOf(ids)).toEqual({ delivered: 1, failed: 3, rate_limited: 1, withheld: 1 });
    expect((await readReplay(ada.actor, webhookId, replay.id)).finishedAt).not.toBeNull();
    expect(await cancelReplay(ada.actor, webhookId, replay.id)).toMatchObject({ state: "cancelled" });
  });

  it("S128 one user's many replays, even in organizations, do not delay another user's replay", async () => {
    await pool().query("update webhook_replay set finished_at = now()");
    for (let each = 0; each < 3; each++) {
      const { id: ownerId } = await organizationOf(grace);
      const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId, ownerKind: "organization" });
      const deliveryIds = await failedDeliveries(webhookId, 1);
      for (let nth = 0; nth < 3; nth++) await startReplay(grace.actor, webhookId, { deliveryIds }, from, { ownerId });
    }
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const { id } = await startReplay(ada.actor, webhookId, { deliveryIds: await failedDeliveries(webhookId, 1) }, from);
    await pool().query("update webhook_replay set due_at = now() - interval '1 second' where finished_at is null");
    await pool().query("update webhook_replay set due_at = now() - interval '1 minute' where created_by_id = $1", [grace.id]);
    const { rows } = await claimRows<ReplayRow>(replayTable, 2);
    expect(rows).toHaveLength(2);
    expect(rows.map((row) => row.id)).toContain(id);
    await pool().query("update webhook_replay set finished_at = now()");
  });

  it("S137 keeps no list of deliveries once it has ended", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const ids = await failedDeliveries(webhookId, 3);
    const { id } = await startReplay(ada.actor, webhookId, { deliveryIds: ids }, from);
    await cancelReplay(ada.actor, webhookId, id);
    await workOnce();
    expect(await db().webhookReplay.findUniqueOrThrow({ where: { id } })).toMatchObject({ total: 3, deliveryIds: [] });
  });

  it("S122 whose worker is killed halfway is continued without skipped or repeated deliveries", async () => {
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const ids = await failedDeliveries(webhookId, 5_000);
    const replay = await startReplay(ada.actor, webhookId, { since: new Date(Date.now() - 60_000) }, from);
    expect(replay.total).toBe(5_000);
    const seen: string[] = [];
    async function takeOut(): Promise<void> {
      const { rows } = await pool().query<{ id: string }>("delete from delivery_queue where replay_id = $1 returning id", [
        replay.id,
      ]);
      const taken = rows.map(({ id }) => id);
      seen.push(...taken);
      await pool().query(
        "update delivery set state = 'delivered', attempts = 2, last_outcome = 'delivered' where id = any ($1)",
        [taken],
      );
    }
    for (let killed = 0; killed < 2; killed++) {
      const worker = startWorker();
      const half = seen.length + 600;
      await vi.waitFor(
        async () => {
          await takeOut();
          expect(seen.length).toBeGreaterThan(half);
        },
        { ...SOON, interval: 5 },
      );
      worker.kill("SIGKILL");
      await once(worker, "exit");
      await pool().query("update webhook_replay set claimed_until = now() where claimed_until is not null");
    }
    expect(seen.length).toBeLessThan(5_000);
    await vi.waitFor(
      async () => {
        await workOnce();
        await takeOut();
        expect((await readReplay(ada.actor, webhookId, replay.id)).state).toBe("finished");
      },
      { ...SOON, interval: 1 },
    );
    expect(seen.length).toBe(5_000);
    expect(seen.sort()).toEqual(ids);
    expect((await readReplay(ada.actor, webhookId, replay.id)).queued).toBe(5_000);
  });
});

function startWorker() {
  const { DATABASE_URL = "", SECRET_KEY = "", DATA_DIR, ORIGIN = "" } = env();
  const root = join(import.meta.dirname, "../../..");
  const program = `const { startReplays } = await import("./worker/deliveries.ts"); await startReplays();`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", NODE_ENV: "test", LOG_LEVEL: "silent", DATABASE_URL, SECRET_KEY, DATA_DIR, ORIGIN },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
