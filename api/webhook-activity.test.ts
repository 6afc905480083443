import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { deliveryDetailSchema, deliveryPageSchema, deliverySchema, webhookChartSchema, webhookReplaySchema } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { organizationOf } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId, newOrderedId } from "#core/ids.ts";
import { listen } from "#core/notifications.ts";
import { STREAMS_MAX_PER_PERSON } from "#core/webhooks/activity/stream-activity.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { queueDeliveries, webhookTo } from "#core/webhooks/testing/deliveries.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL } from "#core/webhooks/vocabulary.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

const SOON = { timeout: 15_000 };

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startApiWorld();
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  ada = await someCaller("webhooks");
});
afterAll(() => world.stop());

const OWN = "/api/settings/webhooks";

async function send(caller: Caller | undefined, method: string, path: string, body?: object) {
  const authorization = caller && { authorization: `Bearer ${caller.accessToken}` };
  const response = await fetch(world.origin + path, {
    method,
    headers: { ...authorization, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function startEngine(): Promise<void> {
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  onTestFinished(() => engine.stop());
}

async function startReceiver(status = 200): Promise<string> {
  const server = http.createServer((req, res) => req.resume().on("end", () => res.writeHead(status).end("ok")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function follow(caller: Caller, webhookId: string, headers: Record<string, string> = {}) {
  const request = http.get(`${world.origin}${OWN}/${webhookId}/deliveries/live`, {
    headers: { authorization: `Bearer ${caller.accessToken}`, ...headers },
    agent: false,
  });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  onTestFinished(() => void request.destroy());
  let text = "";
  response.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  response.on("error", () => undefined);
  const events = () =>
    text.split("\n\n").flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const event = field("event");
      return event ? [{ event, id: field("id"), data: JSON.parse(field("data") ?? "null") }] : [];
    });
  return { response, events, leave: () => request.destroy() };
}

const announce = (webhookId: string) => pool().query("select pg_notify($1, $2)", [ACTIVITY_CHANNEL, webhookId]);

describe("the activity of a webhook", () => {
  test("can be listed, read, charted and replayed with the requests of the public hub's clients", async () => {
    const webhookId = await webhookTo({ url: await startReceiver(202), ownerId: ada.id });
    const [id = ""] = await queueDeliveries(webhookId);
    await startEngine();
    await vi.waitFor(
      async () => expect((await send(ada, "GET", `${OWN}/${webhookId}/deliveries?status=2xx`)).body.deliveries).toHaveLength(1),
      SOON,
    );
    const page = await send(ada, "GET", `${OWN}/${webhookId}/deliveries?state=delivered&limit=5&scope=repo&text=tides`);
    expect(deliveryPageSchema.parse(page.body)).toMatchObject({ deliveries: [{ id, lastStatus: 202 }], older: null });
    expect(page.headers.get("cache-control")).toBe("no-store");
    const one = await send(ada, "GET", `${OWN}/${webhookId}/deliveries/${id}`);
    expect(deliveryDetailSchema.parse(one.body)).toEqual(one.body);
    expect(one.body.attemptLog[0].response.body).toMatchObject({ text: "ok", isCut: false });
    const chart = await send(ada, "GET", `${OWN}/${webhookId}/chart?range=7d`);
    expect(webhookChartSchema.parse(chart.body)).toMatchObject({ delivered: 1, deliveredShare: 1 });
    expect(await send(ada, "POST", `${OWN}/${webhookId}/replay/${id}`)).toMatchObject({
      status: 200,
      body: { status: 202, delivery: id },
    });
    expect(await send(ada, "POST", `${OWN}/${webhookId}/test`, { kind: "discussion.create" })).toMatchObject({
      status: 200,
      body: { status: 202 },
    });
    expect(await send(ada, "POST", `${OWN}/${webhookId}/test`)).toMatchObject({ status: 200, body: { outcome: "delivered" } });

    const many = await send(ada, "POST", `${OWN}/${webhookId}/replays`, { deliveries: [id] });
    expect(webhookReplaySchema.parse(many.body.replay)).toMatchObject({ total: 1, state: "running" });
    const at = `${OWN}/${webhookId}/replays/${many.body.replay.id}`;
    expect((await send(ada, "POST", `${at}/cancel`)).body.replay.state).toBe("cancelled");
    expect((await send(ada, "GET", at)).body.replay).toMatchObject({ id: many.body.replay.id, state: "cancelled" });
    expect((await send(ada, "GET", `${OWN}/${webhookId}/replays`)).body).toHaveLength(1);
    for (const [path, body] of [
      ["replays", {}],
      ["replays", { deliveries: [id], since: new Date().toISOString() }],
      ["replays", { since: "yesterday" }],
      ["test", { kind: "repo.explode" }],
    ] as const) {
      expect((await send(ada, "POST", `${OWN}/${webhookId}/${path}`, body)).status, JSON.stringify(body)).toBe(400);
    }
    for (const query of ["status=9", "state=lost", "limit=1000", "cursor=x", "since=now"]) {
      expect((await send(ada, "GET", `${OWN}/${webhookId}/deliveries?${query}`)).status, query).toBe(400);
    }
  });

  test("S136 looks nonexistent to other users, under another organization's URL, and without the scope", async () => {
    const organization = await organizationOf(ada);
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id });
    const shared = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: organization.id, ownerKind: "organization" });
    const [id = ""] = await queueDeliveries(webhookId, { dueIn: 3_600 });
    const replay = await db().webhookReplay.create({ data: { id: newOrderedId(), webhookId, ownerId: ada.id } });
    const stranger = await someCaller("webhooks");
    const scopeless = await someCaller("jobs");
    const within = `/api/organizations/${organization.name}/settings/webhooks`;
    expect((await send(ada, "GET", `${within}/${shared}/deliveries`)).status).toBe(200);
    for (const [method, path] of [
      ["GET", "deliveries"],
      ["GET", `deliveries/${id}`],
      ["GET", "deliveries/live"],
      ["GET", "chart"],
      ["GET", "replays"],
      ["GET", `replays/${replay.id}`],
      ["POST", `replays/${replay.id}/cancel`],
      ["POST", `replay/${id}`],
      ["POST", "test"],
    ] as const) {
      const absent = await send(stranger, method, `${OWN}/${newId()}/${path}`);
      expect(absent.status, path).toBe(404);
      for (const [caller, at] of [
        [stranger, `${OWN}/${webhookId}`],
        [stranger, `${OWN}/${shared}`],
        [ada, `${within}/${webhookId}`],
      ] as const) {
        const refused = await send(caller, method, `${at}/${path}`);
        expect([refused.status, refused.body], path).toEqual([404, absent.body]);
      }
      expect((await send(scopeless, method, `${OWN}/${webhookId}/${path}`)).status, path).toBe(403);
      expect((await send(undefined, method, `${OWN}/${webhookId}/${path}`)).status, path).toBe(401);
    }
    expect(await db().deliveryQueue.findUnique({ where: { id } })).toMatchObject({ kind: "first", lane: 1 });
  });

  test("can be followed live, and continued from where a client was disconnected", async () => {
    const webhookId = await webhookTo({ url: await startReceiver(), ownerId: ada.id });
    const stream = await follow(ada, webhookId);
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
    });
    const [id = ""] = await queueDeliveries(webhookId);
    await announce(webhookId);
    await vi.waitFor(() => expect(stream.events()).toMatchObject([{ event: "delivery", data: { id, state: "waiting" } }]), SOON);
    await startEngine();
    await pool().query("select pg_notify($1, '')", [DELIVERY_CHANNEL]);
    await vi.waitFor(() => expect(stream.events().at(-1)?.data).toMatchObject({ id, state: "delivered", lastStatus: 200 }), SOON);
    for (const { data } of stream.events()) expect(deliverySchema.parse(data)).toEqual(data);
    const last = stream.events().at(-1)?.id ?? "";
    stream.leave();

    const missed = await queueDeliveries(webhookId, { count: 3 });
    await vi.waitFor(async () => expect(await db().delivery.count({ where: { webhookId, state: "delivered" } })).toBe(4), SOON);
    const again = await follow(ada, webhookId, { "last-event-id": last });
    await vi.waitFor(() => expect(again.events().map(({ data }) => data.id)).toEqual(expect.arrayContaining(missed)), SOON);
    // If too many deliveries change at once, the stream sends one reset.
    await queueDeliveries(webhookId, { count: 150, dueIn: 3_600 });
    await announce(webhookId);
    await vi.waitFor(() => expect(again.events().at(-1)?.event).toBe("reset"), SOON);
  });

  test("S137 gives back the slot of a HEAD request, whose response is complete without the stream", async () => {
    const bob = await someCaller("webhooks");
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: bob.id });
    const path = `${OWN}/${webhookId}/deliveries/live`;
    const headers = { authorization: `Bearer ${bob.accessToken}` };
    for (let sent = 0; sent < STREAMS_MAX_PER_PERSON; sent += 1)
      expect((await fetch(world.origin + path, { method: "HEAD", headers })).status).toBe(200);
    const next = await follow(bob, webhookId);
    next.leave();
    expect(next.response.statusCode).toBe(200);
  });

  test("can be followed by one user in a limited number of streams, and closing a stream makes room", async () => {
    const bob = await someCaller("webhooks");
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: bob.id });
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX_PER_PERSON }, () => follow(bob, webhookId)));
    expect(streams.map(({ response }) => response.statusCode)).toEqual(streams.map(() => 200));
    const over = await send(bob, "GET", `${OWN}/${webhookId}/deliveries/live`);
    expect([over.status, over.headers.get("retry-after")]).toEqual([429, "15"]);
    streams[0]?.leave();
    await vi.waitFor(async () => {
      const next = await follow(bob, webhookId);
      next.leave();
      expect(next.response.statusCode).toBe(200);
    }, SOON);
  });
});
