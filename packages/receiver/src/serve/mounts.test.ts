import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, it, vi } from "vitest";
import { createReceiver } from "../index.ts";
import { samplePayload } from "../landing/answer-landing.ts";

const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`;
const body = JSON.stringify(samplePayload());
const headers = () => {
  const at = new Date();
  return {
    "content-type": "application/json",
    "webhook-id": crypto.randomUUID(),
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": "",
    at,
  };
};
function delivery() {
  const { at, ...rest } = headers();
  return {
    method: "POST",
    body,
    headers: { ...rest, "webhook-signature": new Webhook(SECRET).sign(rest["webhook-id"], at, body) },
  };
}
const make = (options = {}) => createReceiver({ secret: SECRET, ...options }).on("onPush", ({ repo }) => ({ repo: repo.name }));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
async function expectTaken(url: string, wrong = 403) {
  const taken = await fetch(`${url}/webhooks/onPush`, { ...delivery() });
  expect([taken.status, await taken.json()]).toEqual([200, { repo: "ada/tide-tables" }]);
  expect((await fetch(`${url}/webhooks/onPush`, { ...delivery(), body: `${body} ` })).status).toBe(wrong);
  expect((await fetch(`${url}/webhooks/onPush`)).status).toBe(405);
  expect((await fetch(`${url}/webhooks/other`, delivery())).status).toBe(404);
}

it("the receiver mounts into Node's own server", async () => expectTaken(await listen(createServer(make().handler))));

it("the receiver mounts into Express, before a body parser and after one that keeps the bytes", async () => {
  const before = express().use("/hooks", make().handler).use(express.json());
  await expectTaken(`${await listen(createServer(before))}/hooks`);
  const keeps = (request: unknown, _: unknown, bytes: Buffer) => Object.assign(request as object, { rawBody: bytes });
  await expectTaken(
    await listen(
      createServer(
        express()
          .use(express.json({ verify: keeps }))
          .use(make().handler),
      ),
    ),
  );
  await expectTaken(
    await listen(
      createServer(
        express()
          .use(express.raw({ type: "*/*" }))
          .use(make().handler),
      ),
    ),
  );
});

it("the receiver reports what to do if a body parser has discarded the bytes", async () => {
  const onError = vi.fn();
  const url = await listen(createServer(express().use(express.json()).use(make({ onError }).handler)));
  expect((await fetch(`${url}/webhooks/onPush`, delivery())).status).toBe(500);
  expect(String(onError.mock.calls[0]?.[0])).toContain("Mount the receiver before express.json()");
});

it("the receiver mounts into Fastify", async () => {
  const app = fastify();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) => done(null, bytes));
  app.all("/webhooks/*", make().handler);
  await app.listen({ port: 0, host: "127.0.0.1" });
  closing.push(() => app.close());
  await expectTaken(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
});

it("the receiver mounts into Hono, and works as a route handler of Next", async () => {
  const receiver = make({ basePath: "/api" });
  const app = new Hono().all("/api/webhooks/*", (context) => receiver.fetch(context.req.raw));
  const routes = { POST: receiver.fetch, GET: receiver.fetch };
  for (const answer of [
    (request: Request) => app.fetch(request),
    (request: Request) => routes[request.method as "POST"](request),
  ]) {
    const taken = await answer(new Request("https://own.example/api/webhooks/onPush", delivery()));
    expect([taken.status, await taken.json()]).toEqual([200, { repo: "ada/tide-tables" }]);
    expect((await answer(new Request("https://own.example/api/webhooks/onPush"))).status).toBe(405);
  }
  expect((await receiver.fetch(new Request("https://own.example/webhooks/onPush", delivery()))).status).toBe(404);
  expect(await (await receiver.fetch(new Request("http://localhost/api"))).text()).not.toMatch(/Recent deliveries|name="token"/);
});
