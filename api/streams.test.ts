import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { addProvider } from "#core/inference/providers/change-provider.ts";
import { proofKey } from "#core/oauth/testing/dpop.ts";
import { authorize, prepare, redemption } from "#core/oauth/testing/sign-in.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { type Caller, fileLine, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { chunks, startUpstream } from "./testing/inference-upstream.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await someCaller("jobs", "manage-repos", "webhooks");
});
afterAll(() => world.stop());
afterEach(() => void vi.useRealTimers());

async function post(path: string, body: object, accessToken = ada.accessToken): Promise<{ id: string; webhook: { id: string } }> {
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  const response = await fetch(world.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status, path).toBeLessThan(300);
  return response.json();
}

const job = { dockerImage: "python:3.12", command: ["python"], arguments: [], environment: {}, flavor: "cpu-basic" };

async function follow(...requests: [path: string, headers: Record<string, string>, body?: string][]) {
  const ended = new Set<string>();
  for (const [path, headers, body] of requests) {
    const response = await fetch(world.origin + path, { headers, ...(body && { method: "POST", body }) });
    expect(response.status, path).toBe(200);
    expect(response.headers.get("content-type"), path).toContain("text/event-stream");
    const end = () => void ended.add(path);
    void response.text().then(end, end);
  }
  return ended;
}

/** A stream looks the token up again every 15 seconds of this clock. */
const fakeClock = () =>
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"],
    shouldAdvanceTime: true,
  });

/** One large step would make everything in progress time out. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    await delay(50);
  }
}

test("S112 S114 each stream ends when its token is revoked, and not before", async () => {
  const run = await post(`/api/jobs/${ada.username}`, job);
  await post("/api/repos/create", { type: "space", name: "tide", sdk: "node" });
  const { webhook } = await post("/api/settings/webhooks", {
    url: "https://example.com/",
    watched: [{ type: "user", name: ada.username }],
    domains: ["repo"],
  });
  fakeClock();
  const headers = { authorization: `Bearer ${ada.accessToken}` };
  const paths = [
    `/api/jobs/${ada.username}/${run.id}/logs`,
    `/api/jobs/${ada.username}/${run.id}/events`,
    `/api/spaces/${ada.username}/tide/logs/run`,
    `/api/settings/webhooks/${webhook.id}/deliveries/live`,
  ];
  const ended = await follow(...paths.map((path): [string, Record<string, string>] => [path, headers]));
  await pass(31);
  expect([...ended]).toEqual([]);
  await db().personalAccessToken.updateMany({ where: { userId: ada.id }, data: { revokedAt: new Date() } });
  await pass(16);
  await expect.poll(() => [...ended].sort()).toEqual(paths.toSorted());
  // Nothing reads on for a stream that has ended (S137). Two statements keep the connection for notifications.
  await pass(1);
  expect((await countStatements(() => pass(11))).statements).toBeLessThanOrEqual(3);
});

test("S114 a model's streamed response and the request to its provider end when the token is revoked, and not before", async () => {
  provideSettings({ INFERENCE_IDLE_SECONDS: "600" });
  const upstream = await startUpstream();
  upstream.answers((_req, res, body) => {
    res.setHeader("content-type", "text/event-stream");
    res.write(chunks(body)[0]);
  });
  const models = [{ name: "tide", upstreamName: "tide" }];
  const provider = { name: "Next door", baseUrl: upstream.url, apiKey: "sk-1", isOwnNetworkAllowed: true, models };
  await addProvider(operatorCommand, provider, noOrigin);
  const cy = await someCaller("inference-api");
  fakeClock();
  const headers = { authorization: `Bearer ${cy.accessToken}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "tide", stream: true, messages: [{ role: "user", content: "When?" }] });
  const ended = await follow(["/v1/chat/completions", headers, body]);
  await pass(31);
  expect([ended.size, upstream.state.open]).toEqual([0, 1]);
  await db().personalAccessToken.updateMany({ where: { userId: cy.id }, data: { revokedAt: new Date() } });
  await pass(16);
  await expect.poll(() => [ended.size, upstream.state.open]).toEqual([1, 0]);
  await upstream.stop();
});

test("a user can follow ten logs at once, and can follow another after leaving one", async () => {
  const [bob, eve] = [await someCaller("jobs", "manage-repos"), await someCaller("jobs")];
  const run = async ({ username, accessToken }: Caller) =>
    `/api/jobs/${username}/${(await post(`/api/jobs/${username}`, job, accessToken)).id}`;
  await post("/api/repos/create", { type: "space", name: "tide", sdk: "node" }, bob.accessToken);
  const [bobs, eves] = [await run(bob), await run(eve)];
  const paths = [`${bobs}/logs`, `${bobs}/events`, `/api/spaces/${bob.username}/tide/logs/run`];
  const open = async (path: string, { accessToken }: Caller) => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${accessToken}` };
    const { status, body } = await fetch(world.origin + path, { headers, signal: leaving.signal });
    if (status !== 200) await body?.cancel();
    // The body is kept, because fetch closes the connection of a response that is garbage.
    return { status, body, leave: () => leaving.abort() };
  };
  const opened = [];
  for (let each = 0; each < 10; each++) opened.push(await open(paths[each % 3] ?? "", bob));
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
  for (const path of paths) expect([path, (await open(path, bob)).status]).toEqual([path, 429]);
  const other = await open(`${eves}/logs`, eve);
  expect(other.status).toBe(200);
  opened.pop()?.leave();
  await expect
    .poll(async () => {
      const again = await open(paths[0] ?? "", bob);
      opened.push(again);
      return again.status;
    })
    .toBe(200);
  for (const { leave } of [...opened, other]) leave();
});

test("S114 a request whose token is revoked while its body arrives changes nothing", async () => {
  const bob = await someCaller("write-collections");
  const send = async (isRevoked: boolean) => {
    fakeClock();
    const body = JSON.stringify({ title: "Tides", namespace: bob.username });
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(body.slice(0, 5)));
        await delay(100);
        await pass(2);
        if (isRevoked) await db().personalAccessToken.updateMany({ where: { userId: bob.id }, data: { revokedAt: new Date() } });
        controller.enqueue(Buffer.from(body.slice(5)));
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${bob.accessToken}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: stream, duplex: "half" } as RequestInit;
    const { status } = await fetch(`${world.origin}/api/collections`, request);
    vi.useRealTimers();
    return status;
  };
  expect([await send(false), await send(true)]).toEqual([200, 401]);
  expect(await db().collection.count({ where: { ownerId: bob.id } })).toBe(1);
});

test("S114 S135 a token that is revoked while a commit arrives commits nothing", async () => {
  const bob = await someCaller("manage-repos", "write-repos", "contribute-repos", "write-discussions");
  const headers = { authorization: `Bearer ${bob.accessToken}` };
  const made = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "late" }),
  };
  expect((await fetch(`${world.origin}/api/repos/create`, made)).status).toBe(200);
  const late = `${world.origin}/api/models/${bob.username}/late`;
  const send = async (query: string, meanwhile: () => Promise<unknown>) => {
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(`${ndjson(header(), fileLine("a.txt"))}\n`));
        await delay(300);
        await meanwhile();
        controller.enqueue(Buffer.from(ndjson(fileLine(`${newId()}.txt`))));
        controller.close();
      },
    });
    const request = { method: "POST", headers, body: stream, duplex: "half" } as RequestInit;
    return (await fetch(`${late}/commit/main?${query}`, request)).status;
  };
  const revoke = () => db().personalAccessToken.updateMany({ where: { userId: bob.id }, data: { revokedAt: new Date() } });
  const restore = () => db().personalAccessToken.updateMany({ where: { userId: bob.id }, data: { revokedAt: null } });
  for (const query of ["", "create_pr=1"]) {
    expect(await send(query, async () => undefined)).toBe(200);
    const before = await (await fetch(`${late}/refs`)).json();
    expect(await send(query, revoke)).toBe(401);
    expect(await (await fetch(`${late}/refs`)).json()).toEqual(before);
    await restore();
  }
});

test("S112 a proof of possession opens only one stream, which continues until the token is revoked", async () => {
  const [at, key] = [await prepare(world, { scopes: ["openid", "profile", "jobs"] }), await proofKey()];
  const proof = await key.proof("POST", `${world.origin}/oauth/token`);
  const form = { client_id: at.app.clientId, ...redemption(await authorize(at, { scope: "openid profile jobs" })) };
  const { access_token: token } = await (await world.post("/oauth/token", form, { dpop: proof })).json();
  const { username = "" } = (await db().user.findUnique({ where: { id: at.person.id } })) ?? {};
  const jobs = `${world.origin}/api/jobs/${username}`;
  const made = await fetch(jobs, {
    method: "POST",
    headers: { authorization: `DPoP ${token}`, dpop: await key.proof("POST", jobs, token), "content-type": "application/json" },
    body: JSON.stringify(job),
  });
  const path = `/api/jobs/${username}/${(await made.json()).id}/logs`;
  const dpop = await key.proof("GET", world.origin + path, token);
  fakeClock();
  const ended = await follow([path, { authorization: `DPoP ${token}`, dpop }]);
  await pass(31);
  expect([...ended]).toEqual([]);
  await db().oAuthGrant.updateMany({ where: { consent: { userId: at.person.id } }, data: { revokedAt: new Date() } });
  await pass(16);
  await expect.poll(() => [...ended]).toEqual([path]);
});
