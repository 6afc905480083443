import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { createReceiver, type DeliveryContext, isEvent, type Receiver, type ReceiverOptions } from "./index.ts";
import { samplePayload } from "./landing/answer-landing.ts";

const PLAIN = "a plain secret";
const SIGNING = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
const payload = JSON.stringify(samplePayload());
const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close({ timeoutMs: 50 });
});

async function start(options: ReceiverOptions, register: (receiver: Receiver) => void) {
  const printed: string[] = [];
  const receiver = createReceiver(options);
  register(receiver);
  open.push(receiver);
  const { url, port } = await receiver.launch({ port: 0, handleSignals: false, print: (line) => printed.push(line) });
  const post = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      method: "POST",
      body: payload,
      ...init,
      headers: { "content-type": "application/json", ...(init.headers as Record<string, string>) },
    });
  return { receiver, url, port, printed: () => printed.join("\n"), post };
}

function signed(id: string, { key = SIGNING, at = new Date(), body = payload } = {}): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(key).sign(id, at, body),
  };
}

describe("registering", () => {
  const handler = () => undefined;
  it("uses the given name without slashes around it, or the function's name", () => {
    const receiver = createReceiver({ secret: [] });
    receiver.on(async function onPush() {}).on("/on-discussion/", handler);
    expect([...receiver.handlers.keys()]).toEqual(["onPush", "on-discussion"]);
  });
  it("refuses a second handler at a path, a handler without a name, and names that are not valid paths", () => {
    const receiver = createReceiver({ secret: [] }).on("twice", handler);
    expect(() => receiver.on("/twice", handler)).toThrow("already");
    expect(() => receiver.on(() => undefined)).toThrow('webhook("on-push", handler)');
    for (const name of ["///", "..", "a/../b", "a b", "ä", "a\0", "x".repeat(201)])
      expect(() => receiver.on(name, handler)).toThrow();
  });
  it("refuses an empty secret, which would let everybody in", () => {
    expect(() => createReceiver({ secret: "" })).toThrow("empty");
    expect(() => createReceiver({ secret: [], requireSignature: true })).toThrow("requireSignature");
  });
});

it("S140 responds as the table in docs/specification/webhooks.md#the-receiver specifies", async () => {
  const { url, post } = await start({ secret: PLAIN }, (receiver) => {
    receiver.on("nothing", () => undefined).on("json", async ({ repo }) => ({ name: repo.name }));
  });
  const told = async (response: Response) => [response.status, await response.json()];
  const secret = { "x-webhook-secret": PLAIN };
  expect(await told(await post("/webhooks/nothing"))).toEqual([401, { error: "x-webhook-secret header not set." }]);
  expect(await told(await post("/webhooks/nothing", { headers: { "x-webhook-secret": "other" } }))).toEqual([
    403,
    { error: "Invalid webhook secret." },
  ]);
  expect(await told(await post("/webhooks/nothing", { headers: secret }))).toEqual([200, null]);
  expect(await told(await post("/webhooks/json", { headers: secret }))).toEqual([200, { name: "ada/tide-tables" }]);
  for (const body of ["{}", "[]", "null", "not json", "\0", '{"event":{"scope":"repo"}}']) {
    expect(await told(await post("/webhooks/json", { headers: secret, body }))).toEqual([422, { detail: expect.any(Array) }]);
  }
  expect((await post("/webhooks/json", { body: "not json" })).status).toBe(401);
  expect(await told(await post("/webhooks/json", { headers: { ...secret, "content-type": "text/plain" } }))).toEqual([
    422,
    { detail: expect.any(Array) },
  ]);
  const got = await fetch(`${url}/webhooks/json`);
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  for (const path of ["/webhooks/unknown", "/webhooks/", "/webhooks/%ff", "/webhooks/__proto__", "/other"]) {
    expect((await post(path, { headers: secret })).status).toBe(404);
  }
  expect(await told(await fetch(`${url}/health`))).toEqual([200, { status: "ok" }]);
});

describe("senders", () => {
  it("S140 are accepted if they sign with any of the secrets, and a whsec_ secret always requires a signature", async () => {
    const other = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
    const { post } = await start({ secret: [other, SIGNING] }, (receiver) => receiver.on("a", () => undefined));
    const status = async (headers: Record<string, string>, body = payload) =>
      (await post("/webhooks/a", { headers, body })).status;
    expect(await status(signed("1"))).toBe(200);
    expect(await status(signed("2", { key: other }))).toBe(200);
    expect(await status(signed("3", { key: `whsec_${Buffer.alloc(24, 4).toString("base64")}` }))).toBe(403);
    expect(await status(signed("4"), `${payload} `)).toBe(403);
    expect(await status(signed("5", { at: new Date(Date.now() - 301_000) }))).toBe(403);
    expect(await status(signed("6", { at: new Date(Date.now() + 400_000) }))).toBe(403);
    expect(await status({ "x-webhook-secret": SIGNING })).toBe(401);
    expect(await status({ ...signed("7"), "webhook-signature": "v1,AAAA", "x-webhook-secret": SIGNING })).toBe(403);
  });
  it("S140 never get 5xx or 2xx for invented headers", async () => {
    const { post } = await start({ secret: [SIGNING, PLAIN] }, (receiver) => receiver.on("a", () => undefined));
    const parts = [
      "",
      "v1,",
      "v1,AAAA",
      "v1a,x",
      ",,,",
      "v1,é",
      "-1",
      "1e9",
      "NaN",
      "9".repeat(300),
      "v1, ".repeat(500),
      "x".repeat(4_000),
    ];
    const pick = () => parts[Math.floor(Math.random() * parts.length)] as string;
    for (let round = 0; round < 60; round++) {
      const headers: Record<string, string> = {};
      for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-secret"]) {
        if (Math.random() < 0.7) headers[name] = Buffer.from(pick()).toString("latin1");
      }
      const { status } = await post("/webhooks/a", { headers });
      expect([401, 403], JSON.stringify(headers)).toContain(status);
    }
  });
  it("S140 are not checked if no secret is set, and the receiver prints whether a secret is set", async () => {
    const closed = await start({ secret: PLAIN, serviceUrl: "https://hub.example.com" }, (receiver) =>
      receiver.on("a", () => undefined),
    );
    expect(closed.printed()).toContain(`POST ${closed.url}/webhooks/a`);
    expect(closed.printed()).toContain("https://hub.example.com/settings/webhooks");
    expect(closed.printed()).toContain("The webhook secret is set.");
    expect(closed.printed()).not.toContain(PLAIN);
    const opened = await start({ secret: [] }, (receiver) => receiver.on("a", () => undefined));
    expect(opened.printed()).toMatch(/WARNING.*anybody who finds these URLs[\s\S]*WEBHOOK_SECRET/);
    expect((await opened.post("/webhooks/a")).status).toBe(200);
  });
});

describe("handlers", () => {
  it("get the payload typed by its scope, and the delivery's bytes, headers and time", async () => {
    let seen: DeliveryContext | undefined;
    let refs: string[] = [];
    const { post } = await start({ secret: SIGNING }, (receiver) =>
      receiver.on("a", (received, delivery) => {
        seen = delivery;
        if (isEvent(received, "repo.content")) refs = received.updatedRefs.map(({ ref }) => ref);
      }),
    );
    const at = new Date(Math.floor(Date.now() / 1000) * 1000);
    await post("/webhooks/a?x=1", { headers: { ...signed("msg_1", { at }), "x-own": "yes" } });
    expect(refs).toEqual(["refs/heads/main"]);
    expect(seen).toMatchObject({ id: "msg_1", timestamp: at, isTest: false });
    expect(Buffer.from(seen?.rawBody ?? []).toString()).toBe(payload);
    expect(seen?.headers.get("x-own")).toBe("yes");
    expect(await seen?.request.text()).toBe(payload);
    expect(seen?.signal.aborted).toBe(false);
  });
  it("cause a 500 without details and a reported error if they throw or run too long", async () => {
    const errors: unknown[] = [];
    let aborted = false;
    const { post } = await start(
      { secret: [], onError: (error, { handler }) => errors.push(`${handler}: ${error}`) },
      (receiver) =>
        receiver
          .on("throws", () => {
            throw new Error("password=hunter2");
          })
          .on("rejects", async () => Promise.reject(new Error("later")))
          .on("slow", (_, { signal }) => new Promise<void>(() => signal.addEventListener("abort", () => (aborted = true))), {
            timeoutMs: 30,
          }),
    );
    for (const name of ["throws", "rejects", "slow"]) {
      const response = await post(`/webhooks/${name}`);
      expect([response.status, await response.text()]).toEqual([500, "Internal Server Error\n"]);
    }
    expect(aborted).toBe(true);
    expect(errors).toEqual([
      "throws: Error: password=hunter2",
      "rejects: Error: later",
      expect.stringContaining("slow: Error: Handler"),
    ]);
  });
  it("respond in queue mode before they run, and refuse deliveries while the queue is full", async () => {
    const errors: unknown[] = [];
    let running = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { post } = await start({ secret: [], onError: (error) => errors.push(String(error)) }, (receiver) =>
      receiver.on(
        "work",
        async () => {
          most = Math.max(most, ++running);
          await gate;
          running--;
          throw new Error("work failed");
        },
        { mode: "queue", concurrency: 2, maxQueued: 2 },
      ),
    );
    const ids = ["1", "2", "3", "4", "5"];
    const answers: Response[] = [];
    for (const id of ids) answers.push(await post("/webhooks/work", { headers: { "webhook-id": id } }));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 503]);
    expect(answers[4]?.headers.get("retry-after")).toBe("30");
    expect((await post("/webhooks/work", { headers: { "webhook-id": "1" } })).status).toBe(202);
    release();
    await expect.poll(() => errors.length).toBe(4);
    expect([most, errors[0]]).toEqual([2, "Error: work failed"]);
    await post("/webhooks/work", { headers: { "webhook-id": "1" } });
    await expect.poll(() => errors.length).toBe(5);
  });
});

describe("deduplication", () => {
  it("runs an accepted delivery once, even if copies arrive in parallel, and runs a failed delivery again", async () => {
    let runs = 0;
    let isBroken = true;
    const { post } = await start({ secret: SIGNING, onError: () => undefined }, (receiver) =>
      receiver.on("a", async () => {
        runs++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (isBroken) throw new Error("not now");
        return { runs };
      }),
    );
    const send = async (headers = signed("same")) => post("/webhooks/a", { headers });
    expect((await send()).status).toBe(500);
    isBroken = false;
    const all = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(await Promise.all(all.map((each) => each.text()))).toEqual(Array(20).fill('{"runs":2}'));
    expect(await (await send()).text()).toBe('{"runs":2}');
    expect(runs).toBe(2);
  });
  it("runs a requested replay again, but ignores a replay header that was added to a copied request", async () => {
    let runs = 0;
    const { post, receiver } = await start({ secret: SIGNING }, (each) => each.on("a", () => ({ runs: ++runs })));
    const now = Date.now();
    const send = async (at: Date, more = {}) =>
      (await post("/webhooks/a", { headers: { ...signed("same", { at }), ...more } })).json();
    const replay = { "x-webhook-replay": "true" };
    expect(await send(new Date(now - 60_000))).toEqual({ runs: 1 });
    expect(await send(new Date(now - 50_000))).toEqual({ runs: 1 });
    for (const overheard of [60_000, 50_000]) expect(await send(new Date(now - overheard), replay)).toEqual({ runs: 1 });
    expect(await send(new Date(now - 10_000), replay)).toEqual({ runs: 2 });
    expect(await send(new Date(now - 10_000), replay)).toEqual({ runs: 2 });
    await receiver.forget("same");
    expect(await send(new Date(now))).toEqual({ runs: 3 });
  });
  it("runs the retry of a failed replay, although the retry has no replay header", async () => {
    const runs: string[] = [];
    const answers = [200, 500, 500, 201];
    const { post } = await start({ secret: SIGNING }, (each) =>
      each.on("a", () => new Response(`${runs.push("run")}`, { status: answers[runs.length - 1] as number })),
    );
    const now = Date.now();
    const send = async (secondsAgo: number, more = {}) =>
      (await post("/webhooks/a", { headers: { ...signed("same", { at: new Date(now - secondsAgo * 1000) }), ...more } })).text();
    expect(await send(60)).toBe("1");
    expect(await send(50, { "x-webhook-replay": "true" })).toBe("2");
    expect(await send(60)).toBe("2");
    expect(await send(40)).toBe("3");
    expect(await send(30)).toBe("4");
    for (const copied of [60, 50, 40, 30, 20]) expect(await send(copied)).toBe("4");
    expect(runs).toHaveLength(4);
  });
  it("accepts a custom store, and refuses deliveries while the store is unavailable", async () => {
    const errors: unknown[] = [];
    const broken = () => Promise.reject(new Error("store is down"));
    const store = { get: broken, set: broken, delete: broken };
    const { post } = await start({ secret: [], store, onError: (_, source) => errors.push(source) }, (each) =>
      each.on("a", () => undefined),
    );
    expect((await post("/webhooks/a", { headers: { "webhook-id": "1" } })).status).toBe(503);
    expect(errors).toEqual([{ deliveryId: "1", during: "store" }]);
  });
});

describe("bodies", () => {
  it("S140 are limited in size, even without Content-Length", async () => {
    const { post } = await start({ secret: PLAIN }, (receiver) => receiver.on("a", () => undefined));
    const secret = { "x-webhook-secret": PLAIN };
    const padded = (bytes: number) => payload.replace("{", `{${" ".repeat(bytes - payload.length)}`);
    expect((await post("/webhooks/a", { headers: secret, body: padded(1024 * 1024) })).status).toBe(200);
    expect((await post("/webhooks/a", { headers: secret, body: padded(1024 * 1024 + 1) })).status).toBe(413);
    const stream = (bytes: number) => new Blob([padded(bytes)]).stream();
    const chunked = (bytes: number) =>
      post("/webhooks/a", { headers: secret, body: stream(bytes), duplex: "half" } as RequestInit).then(({ status }) => status);
    expect(await chunked(500_000)).toBe(200);
    expect(await chunked(1_100_000)).toBe(413);
  });
  it("are refused if they arrive too slowly", async () => {
    const { port } = await start({ secret: PLAIN, bodyTimeoutMs: 60 }, (receiver) => receiver.on("a", () => undefined));
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST /webhooks/a HTTP/1.1\r\nhost: x\r\nx-webhook-secret: ${PLAIN}\r\ncontent-length: 1000\r\n\r\n{`);
    let answer = "";
    socket.on("data", (data) => (answer += data));
    await once(socket, "close");
    expect(answer).toMatch(/^HTTP\/1.1 408/);
  });
});

it("a receiver that stops responds with 503, and waits for running handlers", async () => {
  let finish: () => void = () => undefined;
  const { receiver, post } = await start({ secret: [] }, (each) =>
    each.on("a", async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return "done";
    }),
  );
  const running = post("/webhooks/a");
  await expect.poll(() => receiver.reception.running.size).toBe(1);
  const closing = receiver.close();
  expect((await post("/webhooks/a")).status).toBe(503);
  finish();
  expect(await (await running).json()).toBe("done");
  await closing;
  await expect(post("/webhooks/a")).rejects.toThrow();
});

it("the receiver prints no control characters that a service sends", async () => {
  const relay = {
    name: "a",
    url: "http://\u001b[2J/\n",
    createdAt: "",
    expiresAt: "2100-01-01T00:00:00Z",
    isListening: true,
    waiting: 0,
  };
  const service = createServer((req, res) => {
    if (req.method === "PUT") return res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ relay }));
    return res.writeHead(200, { "content-type": "text/event-stream" }).write("event: ready\ndata: {}\n\n");
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const printed: string[] = [];
  const receiver = createReceiver({ secret: PLAIN });
  open.push(receiver);
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  await receiver.launch({ port: 0, handleSignals: false, print: (line) => printed.push(line), relay: { url, token: "t" } });
  expect(printed).toContain("Webhooks are received at http://\ufffd[2J/\ufffd");
  service.closeAllConnections();
  service.close();
});
