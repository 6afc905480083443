import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { auditTrail, emailsTo, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { childEnvironment, provideSettings } from "../../env.ts";
import { deadlock } from "../../testing/as-owner.ts";
import { enableWebhook } from "../manage/enable-webhook.ts";
import { targetHost } from "../target-host.ts";
import { queueDeliveries, someOwner, webhookTo } from "../testing/deliveries.ts";
import { claimBacklog, claimDeliveries, startOfBacklog } from "./claim-deliveries.ts";
import { DeliveryEngine } from "./delivery-engine.ts";
import { closeDeliveryPool } from "./delivery-pool.ts";
import { recordDeliveries } from "./record-deliveries.ts";
import { sendDelivery } from "./send-delivery.ts";
import { DeliverySlots, type Limits } from "./slots.ts";

beforeEach(async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  await pool().query("delete from delivery_queue");
});

afterAll(closeDeliveryPool);

vi.setConfig({ testTimeout: 90_000 });
const SOON = { timeout: 60_000, interval: 50 };

type Received = { headers: IncomingHttpHeaders; body: string };

async function startReceiver(answer: (res: Parameters<RequestListener>[1], nth: number) => void = (res) => void res.end("ok")) {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req.setEncoding("utf8")) body += piece;
    received.push({ headers: req.headers, body });
    answer(res, received.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, server };
}

function startEngine(limits?: Limits): DeliveryEngine {
  const engine = new DeliveryEngine(limits);
  engine.start();
  const looking = setInterval(() => engine.announce(), 50);
  onTestFinished(() => {
    clearInterval(looking);
    return engine.stop();
  });
  return engine;
}

const deliveries = (ids: string[]) => db().delivery.findMany({ where: { id: { in: ids } }, orderBy: { id: "asc" } });
const attemptsOf = (id: string) => db().attempt.findMany({ where: { deliveryId: id }, orderBy: { id: "asc" } });
const queued = (ids: string[]) => db().deliveryQueue.findMany({ where: { id: { in: ids } }, orderBy: { id: "asc" } });

async function settled(ids: string[], state: string): Promise<void> {
  await vi.waitFor(async () => expect((await deliveries(ids)).map((each) => each.state)).toEqual(ids.map(() => state)), SOON);
}

describe("a delivery", () => {
  it("S122 S123 arrives signed, with its bytes, and is recorded with its answer", async () => {
    const receiver = await startReceiver((res) => void res.writeHead(201, { "x-made": "yes" }).end("thank you"));
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const webhookId = await webhookTo({ url: receiver.url, secret });
    const [id = ""] = await queueDeliveries(webhookId);
    startEngine();
    await settled([id], "delivered");
    const [got] = receiver.received;
    expect(got?.headers).toMatchObject({ "webhook-id": id, "x-webhook-secret": secret, "content-type": "application/json" });
    new Webhook(secret).verify(got?.body ?? "", got?.headers as Record<string, string>);
    expect(JSON.parse(got?.body ?? "").webhook).toEqual({ id: webhookId, version: 3 });
    const [attempt, ...more] = await attemptsOf(id);
    expect(more).toEqual([]);
    expect(attempt).toMatchObject({
      number: 1,
      kind: "first",
      outcome: "delivered",
      status: 201,
      url: receiver.url,
      nextDueAt: null,
    });
    expect(Buffer.from(attempt?.responseBody ?? []).toString()).toBe("thank you");
    expect(attempt?.responseHeaders).toMatchObject({ "x-made": "yes" });
    expect(await queued([id])).toEqual([]);
    expect(await db().webhookHour.findMany({ where: { webhookId } })).toMatchObject([{ delivered: 1, failed: 0 }]);
  });

  it("S123 is signed with the new secret and, for a day, also with the replaced secret", async () => {
    const receiver = await startReceiver();
    const [secret, previous] = ["the new one", "the old one, ü"];
    const webhookId = await webhookTo({ url: receiver.url, secret });
    const until = (hours: number) =>
      db().webhook.update({
        where: { id: webhookId },
        data: { previousSecret: seal("webhook secret", previous), previousSecretUntil: new Date(Date.now() + hours * 3_600_000) },
      });
    await until(24);
    startEngine();
    const [first = ""] = await queueDeliveries(webhookId);
    await settled([first], "delivered");
    const [got] = receiver.received;
    const headers = got?.headers as Record<string, string>;
    const verify = (text: string, of = got) =>
      new Webhook(Buffer.from(text), { format: "raw" }).verify(of?.body ?? "", of?.headers as Record<string, string>);
    for (const each of [secret, previous]) verify(each);
    expect(headers["x-webhook-secret"]).toBe(secret);
    expect((await attemptsOf(first))[0]?.signature).toBe(headers["webhook-signature"]);
    await until(-1);
    const [second = ""] = await queueDeliveries(webhookId);
    await settled([second], "delivered");
    verify(secret, receiver.received[1]);
    expect(() => verify(previous, receiver.received[1])).toThrow("No matching signature");

    const plain = await webhookTo({ url: receiver.url });
    const [third = ""] = await queueDeliveries(plain);
    await settled([third], "delivered");
    expect(Object.keys(receiver.received[2]?.headers ?? {})).not.toContain("webhook-signature");
    expect(Object.keys(receiver.received[2]?.headers ?? {})).not.toContain("x-webhook-secret");
  });

  it("S124 S125 has the same ID and bytes at each attempt", async () => {
    const receiver = await startReceiver((res, nth) => void res.writeHead(nth < 3 ? 500 : 200).end(`no ${nth}`));
    const webhookId = await webhookTo({ url: receiver.url, secret: "s" });
    const [id = ""] = await queueDeliveries(webhookId, { tags: ["b", 'a "quoted" ü \u2028', "</script>"] });
    const engine = startEngine();
    for (const made of [1, 2]) {
      await vi.waitFor(async () => expect(await attemptsOf(id)).toHaveLength(made), SOON);
      await pool().query("update delivery_queue set due_at = now() where id = $1", [id]);
      engine.announce();
    }
    await settled([id], "delivered");
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
    const attempts = await attemptsOf(id);
    expect(attempts.map(({ number, kind, outcome, status }) => [number, kind, outcome, status])).toEqual([
      [1, "first", "rejected", 500],
      [2, "retry", "rejected", 500],
      [3, "retry", "delivered", 200],
    ]);
    const waits = attempts.map(({ startedAt, nextDueAt }) => nextDueAt && (nextDueAt.getTime() - startedAt.getTime()) / 1000);
    expect(waits[0]).toBeGreaterThanOrEqual(5);
    expect(waits[1]).toBeGreaterThanOrEqual(30);
    expect(waits[2]).toBeNull();
    expect((await db().webhook.findUniqueOrThrow({ where: { id: webhookId } })).failingSince).toBeNull();
    expect(await db().webhookHour.findFirst({ where: { webhookId } })).toMatchObject({ delivered: 1, failed: 2 });
    expect((await db().webhookHour.findFirst({ where: { webhookId } }))?.latencies.reduce((sum, n) => sum + n)).toBe(3);
  });

  it("S120 S121 keeps 64 KiB of an answer, follows no redirect, and accepts any bytes that a receiver sends", async () => {
    const elsewhere = await startReceiver();
    const answers: Parameters<typeof startReceiver>[0][] = [
      (res) => void res.end(Buffer.alloc(100_000, 0)),
      (res) => void res.writeHead(302, { location: elsewhere.url }).end(),
      (res) =>
        void res
          .writeHead(
            200,
            "fine",
            [
              ["x-odd", "\xff\xfe"],
              ["set-cookie", "a=1"],
              ["set-cookie", "b=2"],
            ].flat(),
          )
          .end("\0"),
    ];
    const receiver = await startReceiver((res, nth) => answers[nth - 1]?.(res, nth));
    const webhookId = await webhookTo({ url: receiver.url });
    startEngine();
    for (const state of ["delivered", "waiting", "delivered"]) {
      const [id = ""] = await queueDeliveries(webhookId);
      await vi.waitFor(async () => expect(await attemptsOf(id)).toHaveLength(1), SOON);
      await settled([id], state);
    }
    const [cut, moved, odd] = await db().attempt.findMany({ where: { webhookId }, orderBy: { id: "asc" } });
    expect([cut?.responseBody?.length, cut?.isBodyCut]).toEqual([65_536, true]);
    expect(moved).toMatchObject({ status: 302, outcome: "rejected" });
    expect(elsewhere.received).toEqual([]);
    expect(odd?.responseHeaders).toMatchObject({ "x-odd": "\xff\xfe" });
    expect(Buffer.from(odd?.responseBody ?? [])).toEqual(Buffer.from([0]));
  });

  it("S117 S125 to a forbidden address is blocked and retried, because the name may get another address", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    const ids = await Promise.all(
      ["http://127.0.0.1:1/", "http://nowhere.invalid/"].map(
        async (url) => (await queueDeliveries(await webhookTo({ url })))[0] ?? "",
      ),
    );
    startEngine();
    await vi.waitFor(async () => expect((await deliveries(ids)).map((each) => each.attempts)).toEqual([1, 1]), SOON);
    expect((await deliveries(ids)).map(({ state, lastOutcome }) => [state, lastOutcome]).sort()).toEqual([
      ["waiting", "blocked"],
      ["waiting", "unreachable"],
    ]);
    const [blocked] = await attemptsOf(ids[0] ?? "");
    expect(blocked).toMatchObject({ reason: "the host is not on the public internet", status: null });
    expect(blocked?.nextDueAt).not.toBeNull();
  });

  it("S129 is withheld once its webhook's owner may no longer read the repository", async () => {
    const receiver = await startReceiver();
    const [admin, member] = [await signedInPerson("admin"), await signedInPerson("member")];
    const { id: orgId } = await organizationOf(admin, [[member, "read"]]);
    const webhookId = await webhookTo({ url: receiver.url, ownerId: member.id });
    const [before = ""] = await queueDeliveries(webhookId, { isPrivate: true, ownerId: orgId });
    startEngine();
    await settled([before], "delivered");
    await db().membership.delete({ where: { orgId_userId: { orgId, userId: member.id } } });
    const [after = ""] = await queueDeliveries(webhookId, { isPrivate: true, ownerId: orgId });
    await settled([after], "withheld");
    expect(receiver.received).toHaveLength(1);
    expect(await attemptsOf(after)).toMatchObject([{ outcome: "withheld", url: null, status: null }]);
    expect(await queued([after])).toEqual([]);
    expect(await db().webhookHour.findFirst({ where: { webhookId } })).toMatchObject({ delivered: 1, failed: 0 });
  });

  it("S126 that is answered with 410 disables the webhook and notifies the owner", async () => {
    const receiver = await startReceiver((res, nth) => void res.writeHead(nth === 1 ? 410 : 200).end());
    const ada = await signedInPerson("ada");
    const webhookId = await webhookTo({ url: receiver.url, ownerId: ada.id });
    const engine = startEngine();
    const [gone = ""] = await queueDeliveries(webhookId);
    await settled([gone], "failed");
    expect(await db().webhook.findUnique({ where: { id: webhookId } })).toMatchObject({ disabledReason: "gone" });
    const [held = ""] = await queueDeliveries(webhookId);
    engine.announce();
    const due = () => pool().query("select due_at = 'infinity' as held, claim_id from delivery_queue where id = $1", [held]);
    await vi.waitFor(async () => expect((await due()).rows).toEqual([{ held: true, claim_id: null }]), SOON);
    expect(receiver.received).toHaveLength(1);
    expect(await emailsTo(ada.email)).toMatchObject([{ subject: expect.stringContaining("is disabled") }]);
    expect(await auditTrail({ subjectId: ada.id })).toContain("webhook.suspend");

    await enableWebhook(ada.actor, webhookId, noOrigin);
    engine.announce();
    await settled([held], "delivered");
    const [another = ""] = await queueDeliveries(webhookId);
    await settled([another], "delivered");
    expect((await emailsTo(ada.email)).map(({ subject }) => /works again|is disabled/.exec(subject)?.[0])).toEqual([
      "works again",
      "is disabled",
    ]);
    expect(await db().webhook.findUnique({ where: { id: webhookId } })).toMatchObject({ disabledAt: null, disabledReason: null });
  });

  it("S126 that fails after five days of failures disables the webhook and notifies the administrators once", async () => {
    const receiver = await startReceiver((res) => void res.writeHead(500).end());
    const [admin, member] = [await signedInPerson("admin"), await signedInPerson("member")];
    const { id: orgId } = await organizationOf(admin, [[member, "write"]]);
    const webhookId = await webhookTo({ url: receiver.url, ownerId: orgId, ownerKind: "organization" });
    const since = new Date(Date.now() - 5 * 86_400_000 - 1_000);
    await db().webhook.update({ where: { id: webhookId }, data: { failingSince: since } });
    const ids = await queueDeliveries(webhookId, { count: 3 });
    startEngine();
    await vi.waitFor(async () => {
      const rows = await pool().query("select from delivery_queue where id = any ($1) and due_at = 'infinity'", [ids]);
      expect(rows.rowCount).toBe(3);
    }, SOON);
    expect(await db().webhook.findUnique({ where: { id: webhookId } })).toMatchObject({
      disabledReason: "failing",
      failingSince: since,
    });
    expect(await emailsTo(admin.email)).toHaveLength(1);
    expect(await emailsTo(member.email)).toEqual([]);
    expect((await auditTrail({ orgId })).filter((type) => type === "webhook.suspend")).toHaveLength(1);
  });

  it("S126 that succeeds ends the webhook's time of failures, even if it was claimed before another delivery failed", async () => {
    const receiver = await startReceiver((res, nth) => void res.writeHead(nth === 1 ? 500 : 200).end());
    const webhookId = await webhookTo({ url: receiver.url });
    await queueDeliveries(webhookId, { count: 2 });
    const { rows } = await claimDeliveries(new DeliverySlots().room());
    for (const delivery of rows) await recordDeliveries([{ delivery, step: await sendDelivery(delivery) }]);
    expect(await db().webhookHour.findFirst({ where: { webhookId } })).toMatchObject({ delivered: 1, failed: 1 });
    expect(await db().webhook.findUnique({ where: { id: webhookId } })).toMatchObject({ failingSince: null });
  });

  it("S130 whose secret can no longer be decrypted fails with a reason instead of being sent unsigned", async () => {
    const receiver = await startReceiver();
    const webhookId = await webhookTo({ url: receiver.url });
    await db().webhook.update({ where: { id: webhookId }, data: { secret: Buffer.from("sealed with another key") } });
    const [id = ""] = await queueDeliveries(webhookId);
    startEngine();
    await vi.waitFor(async () => expect(await attemptsOf(id)).toHaveLength(1), SOON);
    expect(await attemptsOf(id)).toMatchObject([{ outcome: "blocked", reason: expect.stringContaining("secret"), url: null }]);
    expect(await queued([id])).toMatchObject([{ kind: "retry", tries: 1 }]);
    expect(receiver.received).toEqual([]);
  });
});

describe("many at once", () => {
  it("S122 two engines share a queue, and nothing is sent twice", async () => {
    const receiver = await startReceiver((res) => void setTimeout(() => res.end("ok"), 2));
    const ids: string[] = [];
    for (let each = 0; each < 5; each++)
      ids.push(...(await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 60 })));
    for (const engine of [startEngine(), startEngine()]) engine.announce();
    await vi.waitFor(async () => expect(await queued(ids)).toEqual([]), SOON);
    const sent = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(sent).toHaveLength(300);
    expect(new Set(sent)).toEqual(new Set(ids));
    expect(await db().attempt.count({ where: { deliveryId: { in: ids } } })).toBe(300);
    expect((await deliveries(ids)).every(({ state, attempts }) => state === "delivered" && attempts === 1)).toBe(true);
  });

  it("S128 deliveries to a responsive target overtake thousands of deliveries to an unresponsive target", async () => {
    const healthy = await startReceiver();
    const silent = await startReceiver(() => undefined);
    const limits: Limits = { total: 16, waiting: 8, perWebhook: 4, perHost: { good: 8, unknown: 3, bad: 2 } };
    const stuck = await queueDeliveries(await webhookTo({ url: silent.url }), { count: 2_000 });
    startEngine(limits);
    await vi.waitFor(() => expect(silent.received.length).toBeGreaterThan(0), SOON);
    const known = await webhookTo({ url: healthy.url });
    for (let round = 0; round < 3; round++) await settled(await queueDeliveries(known, { count: 10 }), "delivered");
    await settled(await queueDeliveries(known, { kind: "retry" }), "delivered");
    expect(silent.received.length).toBeLessThanOrEqual(3);
    const lanes = await pool().query(
      "select lane, count(*)::int as n from delivery_queue where id = any ($1) group by 1 order by 1",
      [stuck],
    );
    expect(lanes.rows.find(({ lane }) => lane === 3)?.n).toBeGreaterThan(1_900);
    const room = new DeliverySlots(limits).room();
    const blockers = { host: targetHost(silent.url), rating: "bad", free: 0 } as const;
    const plan = await claimBacklog({ ...room, hosts: [blockers] }, startOfBacklog);
    expect(plan.rows).toEqual([]);
    silent.server.closeAllConnections();
    await pool().query("delete from delivery_queue where id = any ($1) and claim_id is null", [stuck]);
  });

  it.each(["unknown", "good"])("S128 an owner whose many %s hosts hang leaves slots to other owners", async (rating) => {
    let hangs = rating === "unknown";
    let ended = 0;
    const hanging = await Promise.all(
      Array.from({ length: 6 }, () => startReceiver((res) => (hangs ? void res.on("close", () => ended++) : void res.end("ok")))),
    );
    const healthy = await startReceiver();
    const ownerId = await someOwner();
    const webhookIds = await Promise.all(hanging.map(({ url }) => webhookTo({ url, ownerId })));
    const known = await webhookTo({ url: healthy.url });
    const limits: Limits = { total: 16, waiting: 8, perWebhook: 8, perHost: { good: 8, unknown: 3, bad: 2 } };
    startEngine(limits);
    if (!hangs) for (const id of [...webhookIds, known]) await settled(await queueDeliveries(id), "delivered");
    hangs = true;
    const before = hanging.reduce((sum, { received }) => sum + received.length, 0);
    const stuck = (await Promise.all(webhookIds.map((id) => queueDeliveries(id, { count: 20 })))).flat();
    await vi.waitFor(
      () => expect(hanging.reduce((sum, { received }) => sum + received.length, 0)).toBeGreaterThan(before + 3),
      SOON,
    );
    for (let round = 0; round < 3; round++) await settled(await queueDeliveries(known, { count: 4 }), "delivered");
    expect(ended).toBe(0);
    hangs = false;
    for (const { server } of hanging) server.closeAllConnections();
    await pool().query("delete from delivery_queue where id = any ($1) and claim_id is null", [stuck]);
  });

  it.each(["first", "retry"])(
    "S128 owners take turns at one host, so that one owner's many deliveries (%s) do not delay another's",
    async (kind) => {
      const [url, many, few] = ["https://shared.example.test/", await someOwner(), await someOwner()];
      const earlier: string[] = [];
      for (let each = 0; each < 5; each++)
        earlier.push(...(await queueDeliveries(await webhookTo({ url, ownerId: many }), { count: 20, kind, dueIn: -60 })));
      const later = await queueDeliveries(await webhookTo({ url, ownerId: few }), { kind });
      const room = { ...new DeliverySlots().room(), hosts: [{ host: targetHost(url), rating: "unknown", free: 1 } as const] };
      const held = { ...room, owners: [{ id: many, held: 7 }] };
      expect((await claimDeliveries(held)).rows.map(({ id }) => id)).toEqual(later);
      await pool().query("update delivery_queue set lane = 3, claim_id = null, claimed_until = null");
      expect((await claimBacklog(held, startOfBacklog)).rows.map(({ id }) => id)).toEqual(later);
      await pool().query("delete from delivery_queue where id = any ($1)", [[...earlier, ...later]]);
    },
  );

  it("S128 deliveries in the backlog are sent when their target has room", async () => {
    const receiver = await startReceiver((res) => void setTimeout(() => res.end("ok"), 1));
    const limits: Limits = { total: 8, waiting: 4, perWebhook: 2, perHost: { good: 4, unknown: 2, bad: 1 } };
    const ids = await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 80 });
    startEngine(limits);
    await vi.waitFor(async () => expect(await queued(ids)).toEqual([]), SOON);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set(ids));
    expect(receiver.received).toHaveLength(80);
  });

  it("S128 deliveries that were claimed ahead are sent as slots become free, within each target's limit", async () => {
    let open = 0;
    let most = 0;
    const receiver = await startReceiver((res) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        res.end("ok");
      }, 5);
    });
    const limits: Limits = { total: 16, waiting: 16, perWebhook: 3, perHost: { good: 5, unknown: 2, bad: 1 } };
    const ids: string[] = [];
    for (let each = 0; each < 3; each++)
      ids.push(...(await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 30 })));
    startEngine(limits);
    await vi.waitFor(async () => expect(await queued(ids)).toEqual([]), SOON);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set(ids));
    expect(receiver.received).toHaveLength(90);
    expect(most).toBeLessThanOrEqual(limits.perHost.good);
  });

  it("S129 deliveries that were claimed ahead are released when their target stops responding", async () => {
    let ids: string[] = [];
    const claimed = async () => (await queued(ids)).filter(({ claimedUntil }) => claimedUntil !== null).length;
    const seen: Promise<number>[] = [];
    const receiver = await startReceiver((res, nth) => {
      seen.push(claimed());
      if (nth <= 4) res.end("ok");
    });
    const limits: Limits = { total: 16, waiting: 16, perWebhook: 4, perHost: { good: 2, unknown: 2, bad: 1 } };
    ids = await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 20 });
    startEngine(limits);
    await vi.waitFor(async () => expect([receiver.received.length, await claimed()]).toEqual([6, 2]), SOON);
    expect(Math.max(...(await Promise.all(seen)))).toBeGreaterThan(2);
    receiver.server.closeAllConnections();
    await pool().query("delete from delivery_queue where id = any ($1) and claim_id is null", [ids]);
  });
});

describe("failures of this service", () => {
  it("S122 a worker records nothing that another worker has taken over", async () => {
    const receiver = await startReceiver();
    const ids = (await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 2 })).sort();
    const { rows: stale } = await claimDeliveries(new DeliverySlots().room());
    expect(stale.map(({ id }) => id).sort()).toEqual([...ids].sort());
    await pool().query("update delivery_queue set claimed_until = now() + interval '1 hour' where id = any ($1)", [ids]);
    expect((await claimDeliveries(new DeliverySlots().room())).rows).toEqual([]);
    await pool().query("update delivery_queue set claimed_until = now() - interval '1 second' where id = $1", [ids[0]]);
    const { rows: taken } = await claimDeliveries(new DeliverySlots().room());
    expect(taken.map(({ id }) => id)).toEqual([ids[0]]);
    await recordDeliveries(await Promise.all(stale.map(async (delivery) => ({ delivery, step: await sendDelivery(delivery) }))));
    expect((await deliveries(ids)).map(({ state }) => state)).toEqual(["waiting", "delivered"]);
    expect(await attemptsOf(ids[0] ?? "")).toEqual([]);
    await recordDeliveries(await Promise.all(taken.map(async (delivery) => ({ delivery, step: await sendDelivery(delivery) }))));
    expect((await deliveries(ids)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
    ]);
    const hours = { where: { webhookId: taken[0]?.webhookId }, _sum: { delivered: true } } as const;
    expect(await db().webhookHour.aggregate(hours)).toEqual({ _sum: { delivered: 2 } });
  });

  it("S122 responses that arrive while the database is unavailable are recorded once afterwards", async () => {
    const cut = () =>
      pool().query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keyhook deliveries'",
      );
    const receiver = await startReceiver((res) => void cut().then(() => res.end("ok")));
    const ids = await queueDeliveries(await webhookTo({ url: receiver.url }), { count: 5 });
    startEngine();
    await settled(ids, "delivered");
    expect(receiver.received).toHaveLength(5);
    expect((await deliveries(ids)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1]);
  });

  it("S122 a delivery in progress when its lease expires is not sent again by the same worker", async () => {
    let answer: () => void = () => undefined;
    const receiver = await startReceiver((res) => (answer = () => void res.end("ok")));
    const [id = ""] = await queueDeliveries(await webhookTo({ url: receiver.url }));
    const engine = startEngine();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), SOON);
    const [before] = await queued([id]);
    await pool().query("update delivery_queue set claimed_until = now() - interval '1 second' where id = $1", [id]);
    engine.announce();
    await vi.waitFor(async () => expect((await queued([id]))[0]?.claimId).not.toBe(before?.claimId), SOON);
    await new Promise((resolve) => setTimeout(resolve, 300));
    answer();
    await settled([id], "delivered");
    expect(receiver.received).toHaveLength(1);
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  it("S122 a response is recorded even if its record deadlocked with a change of the webhook", async () => {
    const receiver = await startReceiver((res) => void res.writeHead(500).end());
    const webhookId = await webhookTo({ url: receiver.url });
    const [id = ""] = await queueDeliveries(webhookId);
    // Locks like an operation on a webhook: first the webhook's row, then its waiting deliveries.
    await deadlock(
      `select from webhook where id = '${webhookId}' for no key update`,
      async () => void startEngine(),
      `update delivery_queue set host = host where webhook_id = '${webhookId}'`,
    );
    await vi.waitFor(async () => expect((await attemptsOf(id)).map(({ status }) => status)).toEqual([500]), SOON);
    expect(await queued([id])).toMatchObject([{ claimId: null, tries: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  it("S122 a delivery whose worker is killed before recording is sent again under the same webhook-id", async () => {
    const receiver = await startReceiver();
    const [id = ""] = await queueDeliveries(await webhookTo({ url: receiver.url }));
    const blocker = await pool().connect();
    await blocker.query("begin; select from delivery where id = '0'; lock table delivery in exclusive mode");
    const script = `import { DeliveryEngine } from ${JSON.stringify(join(import.meta.dirname, "delivery-engine.ts"))};
      new DeliveryEngine().start();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env: childEnvironment(), stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const waiting =
      "select from pg_stat_activity where datname = current_database() and application_name = 'keyhook deliveries' and wait_event_type = 'Lock'";
    await vi.waitFor(async () => expect((await pool().query(waiting)).rowCount).toBe(1), SOON);
    expect(receiver.received).toHaveLength(1);
    child.kill("SIGKILL");
    await once(child, "exit");
    await pool().query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keyhook deliveries' and wait_event_type = 'Lock'",
    );
    await blocker.query("rollback");
    blocker.release();
    const claimed = "select claimed_until - now() <= interval '30 seconds' as soon from delivery_queue where id = $1";
    expect((await pool().query(claimed, [id])).rows).toEqual([{ soon: true }]);
    await pool().query("update delivery_queue set claimed_until = now() where id = $1", [id]);
    startEngine();
    await settled([id], "delivered");
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  it("rows whose webhook or event is gone leave the queue", async () => {
    const receiver = await startReceiver((res) => void setTimeout(() => res.end("late"), 300));
    const url = receiver.url;
    const [orphan = ""] = await queueDeliveries(await webhookTo({ url }));
    await pool().query("update delivery_queue set webhook_id = 'gone' where id = $1", [orphan]);
    const [empty = ""] = await queueDeliveries(await webhookTo({ url }));
    await pool().query("delete from event where id = (select event_id from delivery where id = $1)", [empty]);
    const [slow = ""] = await queueDeliveries(await webhookTo({ url }));
    const engine = startEngine();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), SOON);
    await engine.stop();
    expect((await deliveries([slow])).map(({ state }) => state)).toEqual(["delivered"]);
    expect(await queued([orphan, empty, slow])).toEqual([]);
    expect((await deliveries([empty])).map(({ state, attempts }) => [state, attempts])).toEqual([["failed", 0]]);
  });
});
