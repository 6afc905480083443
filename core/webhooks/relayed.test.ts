import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import type { Actor } from "../access/actor.ts";
import { from, organizationOf, signedInPerson, type TestPerson } from "../accounts/testing/people.ts";
import { appToken, ownToken } from "../accounts/testing/tokens.ts";
import { db, pool } from "../db.ts";
import { closeRelay, endRelays } from "../relay/close-relay.ts";
import { answerRequest } from "../relay/inbox/answer-request.ts";
import { takeRequest } from "../relay/inbox/take-request.ts";
import { streamRequests } from "../relay/listen/stream-requests.ts";
import { findRelay, listRelays, openRelay } from "../relay/open-relay.ts";
import { DeliveryEngine } from "./delivery/delivery-engine.ts";
import { closeDeliveryPool } from "./delivery/delivery-pool.ts";
import { createWebhook } from "./manage/create-webhook.ts";
import { updateWebhook } from "./manage/update-webhook.ts";
import { queueRelayed, refreshRelayed } from "./relayed.ts";
import { targetHost } from "./target-host.ts";
import { queueDeliveries, webhookTo } from "./testing/deliveries.ts";

const SOON = { timeout: 20_000, interval: 20 };
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let ada: TestPerson;
beforeAll(async () => {
  ada = await signedInPerson("ada");
});
beforeEach(() => pool().query("delete from delivery_queue"));
afterAll(closeDeliveryPool);

function startEngine(): void {
  const engine = new DeliveryEngine();
  engine.start();
  const looking = setInterval(() => void queueRelayed().then(() => engine.announce()), 50);
  onTestFinished(async () => {
    clearInterval(looking);
    await engine.stop();
  });
}

async function relayed(name: string) {
  const { relay } = await openRelay(ada.actor, ada.id, name, from);
  const webhookId = await webhookTo({ url: `${relay.url}/hook`, ownerId: ada.id, secret: SECRET });
  return { relay, webhookId };
}

type Handed = { id: string; path: string; headers: [string, string][]; bodyBase64: string; isFromInbox: boolean };

async function listening(name: string, ...statuses: number[]) {
  return listeningAs(ada.actor, name, ...statuses);
}

async function listeningAs(actor: Actor, name: string, ...statuses: number[]) {
  const stop = new AbortController();
  const handed: Handed[] = [];
  const stream = await streamRequests({
    actorNow: async () => actor,
    userId: ada.id,
    name,
    listenerId: name,
    concurrency: 8,
    signal: stop.signal,
    refresh: refreshRelayed,
  });
  const reading = (async () => {
    let text = "";
    for await (const piece of stream) {
      text += Buffer.from(piece).toString();
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, data] = /^data: (.*)$/m.exec(text.slice(0, end)) ?? [];
        const isRequest = text.startsWith("event: request");
        text = text.slice(end + 2);
        if (!isRequest || !data) continue;
        const request = JSON.parse(data) as Handed;
        handed.push(request);
        const status = statuses[Math.min(handed.length, statuses.length) - 1] ?? 200;
        const answer = { status, headers: [["X-By", "handler"]] as [string, string][], body: Buffer.from("said") };
        await answerRequest(actor, { userId: ada.id, name, requestId: request.id }, answer);
      }
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await reading;
  });
  return { handed, stop: () => stop.abort() };
}

const attempts = async (deliveryId: string) =>
  (await db().attempt.findMany({ where: { deliveryId }, orderBy: { number: "asc" } })).map(({ kind, outcome, status }) => [
    kind,
    outcome,
    status,
  ]);
const delivery = (id: string) => db().delivery.findUniqueOrThrow({ where: { id } });

it("S141 a delivery to a relay is handed over within the service, and the handler's response is the attempt's", async () => {
  const { webhookId, relay } = await relayed("online");
  expect(new URL(relay.url).pathname).toMatch(/^\/relay\//);
  const { handed } = await listening("online", 200, 422);
  startEngine();
  const [good = ""] = await queueDeliveries(webhookId);
  await vi.waitFor(async () => expect((await delivery(good)).state).toBe("delivered"), SOON);
  expect(await attempts(good)).toEqual([["first", "delivered", 200]]);
  const [kept] = await db().attempt.findMany({ where: { deliveryId: good } });
  expect(kept).toMatchObject({ dnsMs: null, connectMs: null, responseHeaders: { "x-by": "handler" } });
  expect(Buffer.from(kept?.responseBody ?? []).toString()).toBe("said");
  const [request] = handed;
  const body = Buffer.from(request?.bodyBase64 ?? "", "base64").toString();
  expect(request).toMatchObject({ path: "/hook", isFromInbox: false });
  new Webhook(SECRET).verify(body, Object.fromEntries(request?.headers ?? []));
  const [bad = ""] = await queueDeliveries(webhookId);
  await vi.waitFor(async () => expect(await attempts(bad)).toEqual([["first", "rejected", 422]]), SOON);
  expect(await delivery(bad)).toMatchObject({ state: "waiting", lastStatus: 422 });
});

it("S122 S125 a request without a listener is kept, and the handler's later response is recorded", async () => {
  const { webhookId } = await relayed("offline");
  startEngine();
  const [id = ""] = await queueDeliveries(webhookId);
  await vi.waitFor(async () => expect(await attempts(id)).toEqual([["first", "delivered", 202]]), SOON);
  expect((await db().attempt.findFirst({ where: { deliveryId: id } }))?.reason).toMatch(/^stored in the relay's inbox/);
  await pool().query(
    "update relay_request set headers = replace(headers::text, 'webhook-timestamp\",\"1', 'webhook-timestamp\",\"0')::json",
  );
  const { handed } = await listening("offline", 500, 200);
  await vi.waitFor(
    async () =>
      expect((await attempts(id)).slice(0, 2)).toEqual([
        ["first", "delivered", 202],
        ["relay", "rejected", 500],
      ]),
    SOON,
  );
  const [row] = await db().deliveryQueue.findMany({ where: { id } });
  expect(row).toMatchObject({ kind: "retry", tries: 1 });
  await pool().query("update delivery_queue set due_at = now() where id = $1", [id]);
  await vi.waitFor(async () => expect((await delivery(id)).lastStatus).toBe(200), SOON);
  expect((await attempts(id)).at(-1)).toEqual(["retry", "delivered", 200]);
  expect(handed.map(({ isFromInbox }) => isFromInbox)).toEqual([true, false]);
  const [first] = handed;
  new Webhook(SECRET).verify(Buffer.from(first?.bodyBase64 ?? "", "base64").toString(), Object.fromEntries(first?.headers ?? []));
});

it("a delivery that is sent several times waits in an inbox once", async () => {
  const { webhookId } = await relayed("twice");
  startEngine();
  const [id = ""] = await queueDeliveries(webhookId);
  await vi.waitFor(async () => expect(await attempts(id)).toHaveLength(1), SOON);
  await pool().query(
    "insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane) select id, webhook_id, owner_id, event_id, '', 'replay', 0 from delivery where id = $1",
    [id],
  );
  await vi.waitFor(async () => expect(await attempts(id)).toHaveLength(2), SOON);
  expect(await db().relayRequest.count({ where: { deliveryId: id } })).toBe(1);
});

it("S129 a waiting delivery is not handed over once the webhook's owner may no longer read the repository", async () => {
  const grace = await signedInPerson("grace");
  const organization = await organizationOf(grace, [[ada, "read"]]);
  const { webhookId } = await relayed("lost");
  startEngine();
  const [id = ""] = await queueDeliveries(webhookId, { isPrivate: true, ownerId: organization.id });
  await vi.waitFor(async () => expect(await attempts(id)).toEqual([["first", "delivered", 202]]), SOON);
  await db().membership.deleteMany({ where: { userId: ada.id, orgId: organization.id } });
  const { handed } = await listening("lost", 200);
  await vi.waitFor(async () => expect((await delivery(id)).state).toBe("withheld"), SOON);
  expect(handed).toEqual([]);
});

it("S129 the permission is checked again also for deliveries of a killed worker", async () => {
  const grace = await signedInPerson("grace");
  const organization = await organizationOf(grace, [[ada, "read"]]);
  const { relay, webhookId } = await relayed("killed");
  startEngine();
  const [id = ""] = await queueDeliveries(webhookId, { isPrivate: true, ownerId: organization.id });
  await vi.waitFor(async () => expect(await attempts(id)).toEqual([["first", "delivered", 202]]), SOON);
  await pool().query(
    "update relay_request set is_from_inbox = false, waited_until = now() - interval '1 second' where delivery_id = $1",
    [id],
  );
  await db().membership.deleteMany({ where: { userId: ada.id, orgId: organization.id } });
  const { handed } = await listening("killed", 200);
  await vi.waitFor(async () => expect((await delivery(id)).state).toBe("withheld"), SOON);
  expect([handed, relay.name]).toEqual([[], "killed"]);
});

it("a waiting delivery is held if its webhook is disabled, and goes to the new target if the target changes", async () => {
  const disabled = await relayed("disabled");
  const moved = await relayed("moved");
  const { relay: other } = await openRelay(ada.actor, ada.id, "other", from);
  startEngine();
  const [held = ""] = await queueDeliveries(disabled.webhookId);
  const [gone = ""] = await queueDeliveries(moved.webhookId);
  await vi.waitFor(async () => expect([...(await attempts(held)), ...(await attempts(gone))]).toHaveLength(2), SOON);
  await db().webhook.update({ where: { id: disabled.webhookId }, data: { disabledAt: new Date(), disabledReason: "owner" } });
  await db().webhook.update({ where: { id: moved.webhookId }, data: { url: `${other.url}/hook` } });
  const [one, two, three] = await Promise.all([listening("disabled", 200), listening("moved", 200), listening("other", 200)]);
  await vi.waitFor(() => expect(three.handed).toHaveLength(1), SOON);
  await vi.waitFor(async () => expect((await delivery(gone)).lastStatus).toBe(200), SOON);
  await vi.waitFor(async () => expect(await db().deliveryQueue.count({ where: { id: held } })).toBe(1), SOON);
  expect([one.handed, two.handed]).toEqual([[], []]);
  expect(await attempts(held)).toHaveLength(1);
});

it("an organization's events go only to tokens with a grant for the organization", async () => {
  const organization = await organizationOf(ada);
  const app = await appToken(ada.id, { scopes: ["webhooks"] });
  const { relay } = await openRelay(app, ada.id, "granted", from);
  const webhookId = await webhookTo({ url: `${relay.url}/hook`, ownerId: organization.id, ownerKind: "organization" });
  const mine = await webhookTo({ url: `${relay.url}/mine`, ownerId: ada.id });
  startEngine();
  const stranger = await listeningAs(app, "granted", 200);
  const [id = ""] = await queueDeliveries(webhookId);
  const [own = ""] = await queueDeliveries(mine);
  await vi.waitFor(async () => expect((await delivery(own)).lastStatus).toBe(200), SOON);
  expect(stranger.handed.map(({ path }) => path)).toEqual(["/mine"]);
  stranger.stop();
  const granted = await listeningAs({ ...app, orgIds: [organization.id] }, "granted", 200);
  await vi.waitFor(async () => expect((await delivery(id)).lastStatus).toBe(200), SOON);
  expect(granted.handed.map(({ path }) => path)).toEqual(["/hook"]);
});

it("S141 an app cannot listen to a relay that the user or another app opened", async () => {
  const [app, other] = [await appToken(ada.id, { scopes: ["webhooks"] }), await appToken(ada.id, { scopes: ["webhooks"] })];
  const own = await ownToken(ada.id, ["webhooks"]);
  await openRelay(own, ada.id, "by-program", from);
  await openRelay(ada.actor, ada.id, "by-person", from);
  await openRelay(other, ada.id, "by-other", from);
  const { relay } = await openRelay(app, ada.id, "by-app", from);
  const notThere = { code: "not_found" };
  for (const name of ["by-program", "by-person", "by-other"]) {
    const { id: relayId } = await db().relay.findFirstOrThrow({ where: { userId: ada.id, name } });
    const taken = await takeRequest(relayId, { method: "POST", path: "/", headers: [], body: new Uint8Array() });
    const requestId = taken?.id ?? "";
    await expect(listeningAs(app, name, 200)).rejects.toMatchObject(notThere);
    await expect(findRelay(app, ada.id, name)).rejects.toMatchObject(notThere);
    await expect(closeRelay(app, ada.id, name, from)).rejects.toMatchObject(notThere);
    const answer = { status: 200, headers: [], body: Buffer.alloc(0) };
    await expect(answerRequest(app, { userId: ada.id, name, requestId }, answer)).rejects.toMatchObject(notThere);
    await expect(openRelay(app, ada.id, name, from)).rejects.toMatchObject({ code: "forbidden" });
    // Requests that were left in the expired relay would go to the app that opens it.
    await db().relay.update({ where: { id: relayId }, data: { expiresAt: new Date(Date.now() - 1) } });
    await expect(openRelay(app, ada.id, name, from)).rejects.toMatchObject({ code: "forbidden" });
  }
  expect(await listRelays(app, ada.id)).toMatchObject([{ name: "by-app" }]);
  expect(await openRelay(app, ada.id, "by-app", from)).toMatchObject({ relay: { url: relay.url }, previousUrl: null });
  const names = (await listRelays(own, ada.id)).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["by-app", "by-other", "by-person", "by-program"]));
});

it("S141 a user's own program can take over a relay that an app opened", async () => {
  const app = await appToken(ada.id, { scopes: ["webhooks"] });
  const own = await ownToken(ada.id, ["webhooks"]);
  const { relay } = await openRelay(app, ada.id, "taken-over", from);
  await openRelay(app, ada.id, "filled", from);
  const { id: filledId } = await db().relay.findFirstOrThrow({ where: { userId: ada.id, name: "filled" } });
  const request = (path: string) => takeRequest(filledId, { method: "POST", path, headers: [], body: new Uint8Array() });
  await request("/left-there");
  await openRelay(own, ada.id, "filled", from);
  await request("/new");
  const filled = await listeningAs(own, "filled", 200);
  await vi.waitFor(() => expect(filled.handed).toHaveLength(1), SOON);
  expect(filled.handed[0]?.path).toBe("/new");
  const listener = await listeningAs(app, "taken-over", 200);
  const opened = await openRelay(own, ada.id, "taken-over", from);
  expect(opened).toMatchObject({ relay: { isListening: false }, previousUrl: relay.url });
  expect(opened.relay.url).not.toBe(relay.url);
  await expect(listeningAs(app, "taken-over", 200)).rejects.toMatchObject({ code: "not_found" });
  const { id: relayId } = await db().relay.findFirstOrThrow({ where: { userId: ada.id, name: "taken-over" } });
  await takeRequest(relayId, { method: "POST", path: "/", headers: [], body: new Uint8Array() });
  const mine = await listeningAs(own, "taken-over", 200);
  await vi.waitFor(() => expect(mine.handed).toHaveLength(1), SOON);
  expect(listener.handed).toEqual([]);
  expect(await openRelay(own, ada.id, "taken-over", from)).toMatchObject({ relay: { url: opened.relay.url } });
});

it("a delivery that a relay kept until the relay ended counts as unreachable, and waits for its next attempt", async () => {
  const closed = await relayed("closed");
  const expired = await relayed("expired");
  startEngine();
  const [one = ""] = await queueDeliveries(closed.webhookId);
  const [two = ""] = await queueDeliveries(expired.webhookId);
  await vi.waitFor(async () => expect([...(await attempts(one)), ...(await attempts(two))]).toHaveLength(2), SOON);
  await closeRelay(ada.actor, ada.id, "closed", from);
  await db().relay.updateMany({ where: { name: "expired" }, data: { expiresAt: new Date(Date.now() - 1) } });
  await endRelays();
  for (const id of [one, two]) {
    await vi.waitFor(async () => expect((await attempts(id))[1]).toEqual(["relay", "unreachable", null]), SOON);
    expect(await delivery(id)).toMatchObject({ state: "waiting" });
  }
});

it("S136 no webhook can use another user's relay, and each relay counts as a separate host", async () => {
  const { relay } = await relayed("mine");
  const grace = await signedInPerson("grace");
  const owner = { kind: "user" as const, id: grace.id };
  const watched = [{ type: "user" as const, name: grace.username }];
  const token = relay.url.split("/").at(-1) as string;
  const encoded = `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`;
  const { protocol, hostname, host } = new URL(relay.url);
  const spellings = [
    relay.url,
    relay.url.replace("/relay/", "/%72elay/"),
    relay.url.replace("/relay/", "\\relay\\"),
    relay.url.replace(token, encoded),
    relay.url.replace(`${protocol}//${host}`, `${protocol}//${host.replace(hostname, `${hostname}.`)}`),
  ];
  for (const url of spellings) {
    await expect(createWebhook(grace.actor, owner, { url, watched }, from), url).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("relays"),
    });
    expect(targetHost(url), url).toBe(targetHost(relay.url));
  }
  const { webhook } = await createWebhook(grace.actor, owner, { url: "https://example.com/", watched }, from);
  await expect(updateWebhook(grace.actor, webhook.id, { url: `${relay.url}/x` }, from)).rejects.toMatchObject({ field: "url" });
  const mine = { kind: "user" as const, id: ada.id };
  const made = await createWebhook(
    ada.actor,
    mine,
    { url: `${relay.url}/x`, watched: [{ type: "user", name: ada.username }] },
    from,
  );
  expect(made.webhook.url).toBe(`${relay.url}/x`);
  const { relay: other } = await relayed("other");
  expect(targetHost(relay.url)).toMatch(/^relay:/);
  expect(targetHost(relay.url)).toBe(targetHost(`${relay.url}/x`));
  expect(targetHost(relay.url)).not.toBe(targetHost(other.url));
  const log = await db().auditEvent.findMany({ where: { actorId: ada.id } });
  expect(JSON.stringify(log)).not.toContain(relay.url.split("/").at(-1));
});
