import { randomBytes } from "node:crypto";
import http from "node:http";
import { createClient, listenToRelay, type RelayAnswer, type RelayedRequest, type RelayState } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { db, pool } from "#core/db.ts";
import { startWorld } from "#core/oauth/testing/world.ts";
import { handleRequest } from "../handle-request.ts";

const SOON = { timeout: 20_000, interval: 20 };

let world: Awaited<ReturnType<typeof startWorld>>;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end("a page"), req, res));
});
afterAll(() => world.stop());

async function someone(scopes = ["webhooks"] as const) {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes: [...scopes], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input as never, from);
  return { ...person, accessToken: token, client: createClient({ baseUrl: world.origin, token, maxRetries: 0 }) };
}
type Someone = Awaited<ReturnType<typeof someone>>;

async function listening(
  { client }: Someone,
  handle: (request: RelayedRequest) => Promise<RelayAnswer> | RelayAnswer,
  { name = "laptop", concurrency }: { name?: string; concurrency?: number } = {},
) {
  const stop = new AbortController();
  const states: RelayState[] = [];
  const ended = listenToRelay(client, {
    name,
    handle,
    signal: stop.signal,
    concurrency,
    onState: (state) => void states.push(state),
  });
  ended.catch(() => undefined);
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => undefined);
  });
  await vi.waitFor(() => expect(states.length).toBeGreaterThan(0), SOON);
  const [first] = states;
  return { url: first && "url" in first ? first.url : "", states, ended, stop: () => stop.abort() };
}

type Answered = { status: number; headers: http.IncomingHttpHeaders; rawHeaders: string[]; body: Buffer };

function send(url: string, { method = "POST", headers = [] as string[], body = Buffer.alloc(0) } = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url);
    const path = url.slice(url.indexOf("/", 8));
    const length = body.length > 0 ? ["Content-Length", String(body.length)] : [];
    const request = http.request(
      { host: hostname, port, method, path, headers: ["Host", host, ...length, ...headers] as never },
      (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            rawHeaders: answer.rawHeaders,
            body: Buffer.concat(pieces),
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

test("S141 bytes, path and headers reach the handler, without hop-by-hop headers and cookies", async () => {
  const ada = await someone();
  let got: RelayedRequest | undefined;
  const back = randomBytes(70_000);
  const { url } = await listening(ada, (request) => {
    got = request;
    return {
      status: 418,
      headers: [
        ["X-App-Twice", "a"],
        ["x-app-twice", "b"],
        ["X-App-Latin", "caf\xe9"],
      ],
      body: back,
    };
  });
  expect(url).toMatch(new RegExp(`^${world.origin}/relay/[A-Za-z0-9_-]{43}$`));
  const body = randomBytes(300_000);
  const odd = [
    "X-Odd",
    "one",
    "x-oDD",
    "two, three",
    "X-Empty",
    "",
    "X-Latin",
    "na\xefve",
    "Connection",
    "x-private",
    "X-Private",
    "1",
    "Cookie",
    "keyhook=1",
    "Authorization",
    "Token abc",
  ];
  const answer = await send(`${url}/a//b%2F/%7Ex?q=1&q=%20`, { method: "PATCH", headers: odd, body });
  expect(answer.status).toBe(418);
  expect(answer.body.equals(back)).toBe(true);
  expect(answer.headers["x-app-twice"]).toBe("a, b");
  expect(answer.headers["x-app-latin"]).toBe("caf\xe9");
  expect(got).toMatchObject({ method: "PATCH", path: "/a//b%2F/%7Ex?q=1&q=%20", isFromInbox: false });
  expect(Buffer.from(got?.body ?? []).equals(body)).toBe(true);
  const pairs = got?.headers.filter(([name]) => name.startsWith("x-") && !/^x-(forwarded|request)/.test(name));
  expect(pairs).toEqual([
    ["x-odd", "one"],
    ["x-odd", "two, three"],
    ["x-empty", ""],
    ["x-latin", "na\xefve"],
  ]);
  const names = got?.headers.map(([name]) => name) ?? [];
  expect(names).not.toEqual(expect.arrayContaining(["cookie"]));
  expect(got?.headers).toContainEqual(["authorization", "Token abc"]);
});

test("requests without a listener are kept, and handed over in order to the next listener", async () => {
  const ada = await someone();
  const { relay } = await ada.client.relays.open("laptop");
  expect(await ada.client.relays.open("laptop")).toMatchObject({ relay: { url: relay.url } });
  for (const text of ["one", "two", "three"]) {
    const answer = await send(relay.url, { body: Buffer.from(text) });
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([202, { kept: true }]);
  }
  expect(await ada.client.relays.get("laptop")).toMatchObject({ waiting: 3, isListening: false });
  const seen: string[] = [];
  await listening(
    ada,
    ({ body, isFromInbox }) => {
      seen.push(`${Buffer.from(body)} ${isFromInbox}`);
      return { status: 200 };
    },
    { concurrency: 1 },
  );
  await vi.waitFor(() => expect(seen).toEqual(["one true", "two true", "three true"]), SOON);
  await vi.waitFor(
    async () => expect(await ada.client.relays.get("laptop")).toMatchObject({ waiting: 0, isListening: true }),
    SOON,
  );
  await expect.poll(async () => (await pool().query("select from relay_request")).rowCount).toBe(0);
});

test("two hundred requests at once are each handled once", async () => {
  const ada = await someone();
  const handled: string[] = [];
  const { url } = await listening(
    ada,
    ({ path }) => {
      handled.push(path);
      return { status: 200, body: path };
    },
    { concurrency: 32 },
  );
  const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => send(`${url}/${at}`, { body: Buffer.from(`${at}`) })));
  expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  expect(answers.map(({ body }) => body.toString())).toEqual(Array.from({ length: 200 }, (_, at) => `/${at}`));
  expect(new Set(handled).size).toBe(200);
  expect(handled).toHaveLength(200);
});

test("a newer listener takes over, and the older one is notified and ends", async () => {
  const ada = await someone();
  const first = await listening(ada, () => ({ status: 200, body: "first" }));
  expect((await send(first.url)).body.toString()).toBe("first");
  await listening(ada, () => ({ status: 200, body: "second" }));
  expect(await first.ended).toBe("replaced");
  expect((await send(first.url)).body.toString()).toBe("second");
});

test("a request that a listener has taken goes to the next listener once the first listener is dead", async () => {
  const ada = await someone();
  const first = new AbortController();
  const { relay } = await ada.client.relays.open("laptop");
  const taken: string[] = [];
  const stream = (async () => {
    for await (const { event, data } of ada.client.stream("/api/settings/relays/laptop/requests", {
      signal: first.signal,
      query: { listener: "one" },
    })) {
      if (event === "request") taken.push(JSON.parse(data).id);
    }
  })().catch(() => undefined);
  await vi.waitFor(async () => expect((await ada.client.relays.get("laptop")).isListening).toBe(true), SOON);
  const waiting = send(`${relay.url}/x`, { body: Buffer.from("work") });
  await vi.waitFor(() => expect(taken).toHaveLength(1), SOON);
  first.abort();
  await stream;
  const seen: string[] = [];
  await listening(ada, ({ id }) => {
    seen.push(id);
    return { status: 201 };
  });
  expect((await waiting).status).toBe(201);
  expect(seen).toEqual(taken);
});

describe("S141 what an attacker may try", () => {
  test("a response is never a page, a script, a cookie or a redirect of this service", async () => {
    const ada = await someone();
    const { url } = await listening(ada, ({ path }) => ({
      status: path === "/redirect" ? 302 : 200,
      headers: [
        ["Content-Type", path === "/script" ? "text/javascript" : "text/html"],
        ["Location", "https://evil.example/"],
        ["Refresh", "0; url=https://evil.example/"],
        ["Set-Cookie", "keyhook=evil; Path=/"],
        ["Clear-Site-Data", '"*"'],
        ["Strict-Transport-Security", "max-age=0"],
        ["Service-Worker-Allowed", "/"],
        ["WWW-Authenticate", "Basic realm=keyhook"],
        ["Access-Control-Allow-Origin", "*"],
        ["Content-Disposition", "attachment; filename=x.exe"],
        ["Content-Security-Policy", "default-src *"],
        ["Cache-Control", "public, max-age=99999"],
        ["X-Accel-Redirect", "/internal"],
        ["X-Sendfile", "/etc/passwd"],
        ["Surrogate-Control", "max-age=99999"],
        ["X-Never-Heard-Of", "1"],
        ["X-App-Own", "kept"],
        ["Retry-After", "7"],
        ["Transfer-Encoding", "chunked"],
        ["Content-Length", "3"],
        ["Link", "</x>; rel=preload"],
      ],
      body: "<h1>Sign in</h1>",
    }));
    const browser = ["Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"];
    const page = await send(url, { method: "GET", headers: browser });
    expect(page.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(page.headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none'/);
    expect(page.headers["x-content-type-options"]).toBe("nosniff");
    expect(page.headers["cache-control"]).toBe("no-store");
    expect(page.headers["content-length"]).toBe(String("<h1>Sign in</h1>".length));
    for (const name of [
      "location",
      "refresh",
      "set-cookie",
      "clear-site-data",
      "service-worker-allowed",
      "www-authenticate",
      "access-control-allow-origin",
      "content-disposition",
      "x-accel-redirect",
      "x-sendfile",
      "surrogate-control",
      "x-never-heard-of",
      "link",
      "transfer-encoding",
    ]) {
      expect([name, page.headers[name]]).toEqual([name, undefined]);
    }
    expect(page.headers).toMatchObject({ "x-app-own": "kept", "retry-after": "7" });
    expect((await send(`${url}/redirect`, { method: "GET" })).headers.location).toBeUndefined();
    expect((await send(`${url}/script`, { method: "GET" })).headers["content-type"]).toMatch(/^text\/plain/);
    for (const headers of [
      ["Service-Worker", "script"],
      ["Sec-Fetch-Dest", "script"],
      ["Sec-Fetch-Dest", "serviceworker"],
      ["Sec-Fetch-Dest", "iframe"],
    ]) {
      expect((await send(url, { method: "GET", headers })).status).toBe(403);
    }
  });

  test("cookies and tokens of this service are not passed on", async () => {
    const ada = await someone();
    const told: string[] = [];
    const { url } = await listening(ada, ({ headers }) => {
      told.push(...headers.filter(([name]) => /cookie|authorization|dpop/.test(name)).map(([name]) => name));
      return { status: 200 };
    });
    const basic = Buffer.from(`ada:${ada.accessToken}`).toString("base64");
    await send(url, { headers: ["Authorization", `Bearer ${ada.accessToken}`] });
    await send(url, { headers: ["Authorization", `Basic ${basic}`] });
    await send(url, { headers: ["Authorization", "Basic eDp5", "Sec-Fetch-Mode", "navigate", "Cookie", "a=b"] });
    expect(told).toEqual([]);
  });

  test("responses with line breaks in headers, or with invalid statuses, are refused", async () => {
    const ada = await someone();
    const { relay } = await ada.client.relays.open("laptop");
    await send(relay.url, { body: Buffer.from("x") });
    const { rows } = await pool().query<{ id: string }>(
      "select q.id from relay_request q join relay r on r.id = q.relay_id where r.user_id = $1",
      [ada.id],
    );
    const answer = (body: object, who: Someone = ada) =>
      fetch(`${world.origin}/api/settings/relays/laptop/requests/${rows[0]?.id}/answer`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.accessToken}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then(({ status }) => status);
    for (const bad of [
      { status: 200, headers: [["X-A", "b\r\nSet-Cookie: c=d"]] },
      { status: 200, headers: [["X-A\r\nB", "c"]] },
      { status: 200, headers: [["X-A", "\u0100"]] },
      { status: 101 },
      { status: 99 },
      { status: 600 },
      { status: 200, bodyBase64: "***" },
      { status: 200, headers: [["X", "y".repeat(40_000)]] },
    ]) {
      expect([bad, await answer(bad)]).toEqual([bad, 400]);
    }
    expect(await answer({ status: 200 }, await someone())).toBe(404);
    expect(await answer({ status: 200 })).toBe(200);
    expect(await answer({ status: 200 })).toBe(404);
  });

  test("an invalid, expired or closed URL, or one of a disabled user, responds with 404", async () => {
    const ada = await someone();
    const { relay } = await ada.client.relays.open("laptop");
    const status = async (url = relay.url) => (await send(url)).status;
    expect(await status()).toBe(202);
    expect(await status(relay.url.replace("/relay/", "/%72el%61y/"))).toBe(202);
    expect(await status(`${world.origin}/relay/${"x".repeat(43)}`)).toBe(404);
    expect(await status(`${world.origin}/relay`)).toBe(404);
    expect(await status(`${world.origin}/relay/..%2F..%2Fapi`)).toBe(404);
    await db().user.update({ where: { id: ada.id }, data: { disabledAt: new Date() } });
    expect(await status()).toBe(404);
    await db().user.update({ where: { id: ada.id }, data: { disabledAt: null } });
    expect(await status()).toBe(202);
    await db().relay.updateMany({ where: { userId: ada.id }, data: { expiresAt: new Date(Date.now() - 1) } });
    expect(await status()).toBe(404);
    const again = await ada.client.relays.open("laptop");
    expect(again).toMatchObject({ previousUrl: relay.url, staleWebhooks: [] });
    expect(again.relay.url).not.toBe(relay.url);
    expect([await status(), await status(again.relay.url)]).toEqual([404, 202]);
    await ada.client.relays.close("laptop");
    expect(await status(again.relay.url)).toBe(404);
    await expect(ada.client.relays.get("laptop")).rejects.toMatchObject({ status: 404 });
  });

  test("a body, an inbox and the number of a user's relays are limited", async () => {
    const ada = await someone();
    const { relay } = await ada.client.relays.open("laptop");
    expect((await send(relay.url, { body: Buffer.alloc(8 * 1024 * 1024 + 1) })).status).toBe(413);
    const eight = Buffer.alloc(8 * 1024 * 1024 - 10_000);
    for (let each = 0; each < 8; each++) expect((await send(relay.url, { body: eight })).status).toBe(202);
    const full = await send(relay.url, { body: eight });
    expect([full.status, full.headers["retry-after"]]).toEqual([503, "60"]);
    await pool().query("update throttle set count = 1200 where key like 'relay:%'");
    const often = await send(relay.url);
    expect([often.status, Number(often.headers["retry-after"]) > 0]).toEqual([429, true]);
    await ada.client.relays.close("laptop");
    for (let each = 0; each < 20; each++) await ada.client.relays.open(`r${each}`);
    await expect(ada.client.relays.open("r20")).rejects.toMatchObject({ status: 409 });
    await expect(ada.client.relays.open("Upper")).rejects.toMatchObject({ status: 400 });
  });
});

test("S112 a listener whose token was revoked is disconnected, and one without the scope is refused", async () => {
  const ada = await someone();
  const { ended } = await listening(ada, () => ({ status: 200 }));
  await db().personalAccessToken.deleteMany({ where: { userId: ada.id } });
  await expect(ended).rejects.toMatchObject({ status: 401 });
  const grace = await someone(["jobs"] as never);
  await expect(grace.client.relays.open("x")).rejects.toMatchObject({ status: 403, scope: "webhooks" });
});
