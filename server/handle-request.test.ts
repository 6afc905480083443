import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { operatorCommand, personActor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { startSiteSession } from "#core/accounts/sessions/start-site-session.ts";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { closeConnections, db, pool } from "#core/db.ts";
import { env, provideSettings } from "#core/env.ts";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { countAgainst, countWork } from "#core/fair-queue/party.ts";
import { CLIENT_ADDRESS_HEADER } from "#core/http/client-address.ts";
import { requestContext } from "#core/log.ts";
import { stopListening } from "#core/notifications.ts";
import { startProcessMetrics } from "#core/operations/metrics/process-metrics.ts";
import { findUntrustedProxies, recordUntrustedProxy } from "#core/operations/untrusted-proxy.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { somebodyWithToken } from "../api/testing/lfs.ts";
import type { Door } from "./dispatch.ts";
import { MAX_ACTION_BYTES } from "./dispatch.ts";
import { handleRequest } from "./handle-request.ts";
import { KNOWN_OF_ACCOUNT_MAX, knownCredentials, restartPace } from "./pace-request.ts";
import { cookieOf } from "./read-request.ts";

const pages: Door = async (req, res) => {
  if (req.url === "/elsewhere") return void res.writeHead(307, { Location: "https://elsewhere.example/" }).end();
  if (req.url === "/fails") throw new Error("a page that fails");
  if (req.url === "/waits") Object.assign(requestContext.getStore() ?? {}, { pageStatus: 429, pageRetryAfter: 17 });
  const token = cookieOf(req, siteSessionCookie().name);
  const session = token && (await findSiteSession(token));
  if (session) countAgainst(personActor(session));
  if (req.url === "/away") Object.assign(requestContext.getStore() ?? {}, { pageStatus: 503 });
  res.writeHead(200, {
    "Content-Type": req.url === "/data" ? "text/x-component" : "text/html; charset=utf-8",
    "Cache-Control": "private",
  });
  if (req.url === "/large") res.write(" ".repeat(7_000_000));
  if (req.url === "/works") countWork(70);
  if (req.url === "/read") for await (const _ of req);
  res.end(JSON.stringify({ url: req.url, headers: req.headers, ip: req.headers[CLIENT_ADDRESS_HEADER] }));
};

type Answer = { status: number; headers: IncomingMessage["headers"]; body: string; seen: Seen };
type Seen = { url: string; headers: Record<string, string>; ip: string | undefined };
type Options = { method?: string; headers?: Record<string, string>; body?: string; localAddress?: string };

let server: Server;
let port: number;

async function ask(path: string, { method = "GET", headers = {}, body, localAddress }: Options = {}): Promise<Answer> {
  const req = request({
    port,
    host: "127.0.0.1",
    path,
    method,
    headers: { host: `localhost:${port}`, ...headers },
    ...(localAddress && { localAddress }),
    agent: false,
  });
  req.on("error", () => undefined).end(body);
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const answer = await text(res);
  const seen = answer.startsWith('{"url"') ? JSON.parse(answer) : undefined;
  return { status: res.statusCode ?? 0, headers: res.headers, body: answer, seen };
}

async function askRaw(head: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  // Not `end`, because a server may take a half-closed connection for an abandoned one.
  socket.write(head);
  return text(socket);
}

beforeAll(async () => {
  server = createServer((req, res) => handleRequest(pages, req, res)).listen(0);
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  provideSettings({ PORT: String(port), ORIGIN: `http://localhost:${port}`, TRUST_PROXY: "", NODE_ENV: "production" });
});
afterAll(async () => {
  server.close();
  await stopListening();
});

it.each([
  ["/waits", 429, "17"],
  ["/away", 503, "2"],
  ["/", 200, undefined],
])("a page that asks to wait sends Retry-After: %s", async (path, status, retryAfter) => {
  const answer = await ask(path);
  expect([answer.status, answer.headers["retry-after"]]).toEqual([status, retryAfter]);
});

describe("every page", () => {
  it("S23 cannot be framed, is not stored, and sends no referrer to other sites", async () => {
    const { headers } = await ask("/login");
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("S24 runs only scripts that carry the nonce of this answer, which Next reads from the request", async () => {
    const [one, other] = [await ask("/login"), await ask("/login")];
    const policy = String(one.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'self'");
    expect(policy).toMatch(/script-src 'self' 'nonce-[\w+/=]{22,}' 'strict-dynamic';/);
    expect(policy).not.toContain("unsafe-eval");
    expect(policy).not.toContain("form-action");
    expect(one.seen.headers["content-security-policy"]).toBe(policy);
    expect(other.headers["content-security-policy"]).not.toBe(policy);
  });

  it("S23 has the same protection if it is a page of the protocol", async () => {
    const { status, headers } = await ask("/oauth/authorize?client_id=unknown", { headers: { accept: "text/html" } });
    expect(status).toBe(400);
    expect(headers).toMatchObject({ "x-frame-options": "DENY", "referrer-policy": "no-referrer", "cache-control": "no-store" });
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("is not cached, whereas other responses keep their cache headers", async () => {
    const { headers } = await ask("/data");
    expect(headers["cache-control"]).toBe("private");
    expect(headers["x-frame-options"]).toBeUndefined();
  });

  it("requires https only if the service is on https", async () => {
    expect((await ask("/login")).headers["strict-transport-security"]).toBeUndefined();
    provideSettings({ ORIGIN: "https://keys.example.com" });
    expect((await ask("/login")).headers["strict-transport-security"]).toMatch(/^max-age=\d{8}$/);
  });

  it("that fails answers 500 without a reason", async () => {
    const { status, body } = await ask("/fails");
    expect(status).toBe(500);
    expect(body).not.toContain("a page that fails");
  });
});

describe("S110 a request's own statement about its sender and its host", () => {
  const spoofed = {
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "1",
    "x-forwarded-for": "203.0.113.9",
    forwarded: "for=203.0.113.9;host=evil.example",
    "x-real-ip": "203.0.113.9",
    "x-keyhook-client-address": "203.0.113.9",
    "x-request-id": "spoofed-request-id",
  };

  it("is not trusted without a proxy, except in a request that Next sends on behalf of another request", async () => {
    const { seen } = await ask("/login", { method: "POST", localAddress: "127.0.0.2" });
    expect(seen.ip).toBe("127.0.0.2");
    // Next sends the original headers when it passes an action on to its page.
    for (const method of ["POST", "GET"]) expect((await ask("/", { method, headers: seen.headers })).seen.ip).toBe("127.0.0.2");
    const proof = Object.keys(seen.headers).filter((name) => /^x-keyhook-/.test(name));
    for (const name of proof) {
      for (const value of ["", "127.0.0.3", seen.headers[name]?.replace("127.0.0.2", "127.0.0.3") ?? ""]) {
        const answer = await ask("/", { headers: { ...seen.headers, [name]: value } });
        expect(answer.seen.ip, name).toMatch(/^127\.0\.0\.[12]$/);
      }
    }
  });

  it("S24, S117 a request that Next sends for another request gets only pages, and no redirects", async () => {
    const { headers } = (await ask("/login")).seen;
    for (const path of ["/spaces/a/b/app/x.htc", "/a/b/raw/main/x", "/oauth/authorize", "/api/models", "/relay/x", "/metrics"])
      expect((await ask(path, { headers })).status, path).toBe(404);
    expect((await ask("/elsewhere")).headers.location).toBe("https://elsewhere.example/");
    const answer = await ask("/elsewhere", { headers });
    expect([answer.status, answer.headers.location]).toEqual([307, undefined]);
    const moved = await ask("/login", { headers: { ...headers, host: "localhost:1" } });
    expect([moved.status, moved.headers.location]).toEqual([307, undefined]);
  });

  it("S110 counts for that request's IP address only for ten minutes, and has the same limits afterwards", async () => {
    const { headers } = (await ask("/login", { localAddress: "127.0.0.2" })).seen;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 9 * 60_000 });
    try {
      expect((await ask("/", { headers })).seen.ip).toBe("127.0.0.2");
      vi.setSystemTime(Date.now() + 2 * 60_000);
      expect((await ask("/", { headers })).seen.ip).toBe("127.0.0.1");
      expect((await ask("/api/models", { headers })).status).toBe(404);
      expect((await ask("/elsewhere", { headers })).headers.location).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("changes nothing that a page sees", async () => {
    const { seen, headers } = await ask("/login", { headers: spoofed });
    expect(seen.headers).toMatchObject({
      host: `localhost:${port}`,
      "x-forwarded-host": `localhost:${port}`,
      "x-forwarded-proto": "http",
      "x-forwarded-port": String(port),
      "x-forwarded-for": "127.0.0.1",
    });
    expect(JSON.stringify(seen)).not.toMatch(/evil|203\.0\.113/);
    expect(seen.ip).toBe("127.0.0.1");
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{24}$/);
  });

  it("changes no issuer and no endpoint", async () => {
    for (const host of ["evil.example", `localhost:${port}`]) {
      const { body } = await ask("/.well-known/openid-configuration", { headers: { ...spoofed, host } });
      expect(JSON.parse(body)).toMatchObject({ issuer: env().ORIGIN, token_endpoint: `${env().ORIGIN}/oauth/token` });
      expect(body).not.toContain("evil");
    }
  });

  it("is accepted from a trusted proxy, and its last address that is not a trusted proxy counts", async () => {
    provideSettings({ TRUST_PROXY: "127.0.0.0/8,10.0.0.5" });
    const from = async (forwarded: string) => (await ask("/login", { headers: { "x-forwarded-for": forwarded } })).seen.ip;
    expect(await from("198.51.100.7")).toBe("198.51.100.7");
    expect(await from("203.0.113.9, 198.51.100.7")).toBe("198.51.100.7");
    expect(await from("203.0.113.9, 198.51.100.7, 10.0.0.5")).toBe("198.51.100.7");
    expect(await from("203.0.113.9, 10.0.0.6")).toBe("10.0.0.6");
    expect(await from("[2001:db8::1]:4711")).toBe("2001:db8::1");
    expect(await from("198.51.100.7:80")).toBe("198.51.100.7");
    expect(await from("203.0.113.9, unknown")).toBe("127.0.0.1");
    expect(await from("")).toBe("127.0.0.1");
    expect(await from("10.0.0.5")).toBe("10.0.0.5");
  });

  it("S110 is recorded for the operator while the proxy is not trusted", async () => {
    await db().setting.deleteMany({ where: { key: { startsWith: "untrusted_proxy" } } });
    provideSettings({ TRUST_PROXY: "10.0.0.5" });
    await ask("/login");
    expect(await findUntrustedProxies()).toEqual([]);
    const later = Date.now() + 60 * 60_000;
    recordUntrustedProxy(
      { headers: { "x-forwarded-for": "198.51.100.7" }, socket: { remoteAddress: "::ffff:127.0.0.1" } } as never,
      later,
    );
    const seen = [{ address: "127.0.0.1", isNear: true, seenAt: expect.any(Date) }];
    await expect.poll(findUntrustedProxies).toEqual(seen);
    recordUntrustedProxy({ headers: { forwarded: "for=198.51.100.7" }, socket: { remoteAddress: "9.9.9.9" } } as never, later);
    await expect.poll(findUntrustedProxies).toEqual([...seen, { address: "9.9.9.9", isNear: false, seenAt: expect.any(Date) }]);
    provideSettings({ TRUST_PROXY: "127.0.0.0/8,9.9.9.0/24" });
    expect(await findUntrustedProxies()).toEqual([]);
  });

  it("sets the request ID only if a trusted proxy sent it", async () => {
    provideSettings({ TRUST_PROXY: "127.0.0.1" });
    expect((await ask("/login", { headers: { "x-request-id": "from-the-proxy-1" } })).headers["x-request-id"]).toBe(
      "from-the-proxy-1",
    );
    expect((await ask("/login", { headers: { "x-request-id": "not one; at all" } })).headers["x-request-id"]).toMatch(
      /^[0-9a-f]{24}$/,
    );
  });
});

describe("a page that was requested under another name", () => {
  it("is redirected to ORIGIN when users reach us directly", async () => {
    const { status, headers } = await ask("/login?next=%2Fa", { headers: { host: `127.0.0.1:${port}` } });
    expect(status).toBe(307);
    expect(headers.location).toBe(`http://localhost:${port}/login?next=%2Fa`);
  });

  it("never leads to another site", async () => {
    const { headers } = await ask("//evil.example/%5c", { headers: { host: "evil.example" } });
    expect(new URL(String(headers.location)).origin).toBe(env().ORIGIN);
  });

  it("is not redirected if a form is sent or a program asks", async () => {
    const host = { host: `127.0.0.1:${port}` };
    expect((await ask("/login", { method: "POST", headers: host })).status).toBe(200);
    expect((await ask("/healthz", { headers: host })).status).toBe(200);
    expect((await ask("/.well-known/openid-configuration", { headers: host })).status).toBe(200);
    expect((await ask("/api/whoami-v2", { headers: host })).status).toBe(401);
  });

  it("does not loop behind a proxy that sets its own host", async () => {
    provideSettings({ ORIGIN: "https://keys.example.com", TRUST_PROXY: "127.0.0.1" });
    expect((await ask("/login", { headers: { host: "upstream" } })).status).toBe(200);
    expect((await ask("/login", { headers: { host: "upstream", "x-forwarded-host": "keys.example.com" } })).status).toBe(200);
    const moved = await ask("/login", { headers: { host: "upstream", "x-forwarded-host": "old.example.com" } });
    expect(moved.headers.location).toBe("https://keys.example.com/login");
    provideSettings({ TRUST_PROXY: "" });
    expect((await ask("/login", { headers: { host: "upstream", "x-forwarded-host": "old.example.com" } })).status).toBe(200);
  });
});

describe("S25 a form that another site sends", () => {
  const post = (headers: Record<string, string>) => ask("/settings/profile", { method: "POST", headers, body: "" });

  it("is refused, because of Sec-Fetch-Site or Origin", async () => {
    for (const site of ["cross-site", "same-site"]) expect((await post({ "sec-fetch-site": site })).status).toBe(403);
    expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  });

  it("differs from a form of this site, whose Origin is null because pages send no referrer", async () => {
    const { status, seen } = await post({ "sec-fetch-site": "same-origin", origin: "null" });
    expect(status).toBe(200);
    expect(seen.headers.origin).toBe(env().ORIGIN);
    expect((await post({ "sec-fetch-site": "none" })).status).toBe(200);
    expect((await post({ origin: env().ORIGIN })).status).toBe(200);
  });

  it("cannot hide behind a null Origin on https, where browsers always send Sec-Fetch-Site", async () => {
    expect((await post({ origin: "null" })).status).toBe(200);
    provideSettings({ ORIGIN: "https://keys.example.com" });
    expect((await post({ origin: "null" })).status).toBe(403);
    expect((await post({ origin: "null", "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it("is refused, but a link from another site is followed", async () => {
    expect((await ask("/login", { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(200);
  });
});

it("S51 a POST to the URL of a static file is refused, because Next would run an action", async () => {
  const { status, headers } = await ask("/_next/static/x", {
    method: "POST",
    headers: { "next-action": "0".repeat(42) },
    body: "[]",
  });
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  expect((await ask("/_next/static/x")).status).toBe(200);
});

describe("S51 S138 an invalid URL", () => {
  it.each(["/%", "/%zz", "/a%c3", "/%ff", "/a%00b", "/a?b=%00", "/oauth/token%00", "/api/%e0%a4%a", "/images/%"])(
    "%s answers 400",
    async (path) => {
      const { status, headers } = await ask(path);
      expect(status).toBe(400);
      expect(headers["x-request-id"]).toBeDefined();
    },
  );

  it.each([
    "/_next/../login",
    "/_next/%2e%2E/login",
    "/_next/static/.%2e/../login",
    "/x/../interaction/y",
    "/./login",
    "/login/..",
  ])("%s gets 400, because Next would open another page than the checked one", async (path) => {
    expect((await ask(path)).status).toBe(400);
  });

  it.each([
    ["GET /\u0000 HTTP/1.1", 400],
    ["GET http://evil.example/login HTTP/1.1", 200],
    ["OPTIONS * HTTP/1.1", 400],
    ["GET login HTTP/1.1", 400],
    [`GET /${"a".repeat(20_000)} HTTP/1.1`, 431],
  ])("%.40s is answered without 5xx", async (line, status) => {
    const answer = await askRaw(`${line}\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (status === 200) expect(answer).toContain('"url":"/login"');
  });

  it("gets a page that shows the service's name as text instead of HTML", async () => {
    provideSettings({ BRAND_NAME: "<b>Keys</b>" });
    const { body, headers } = await ask("/%", { headers: { accept: "text/html" } });
    expect(headers["content-type"]).toContain("text/html");
    expect(body).toContain("&#60;b&#62;Keys");
    provideSettings({ BRAND_NAME: "Keyhook" });
  });
});

describe("a body", () => {
  it("that is larger than any form of ours is refused before it is read", async () => {
    const { status } = await ask("/settings/profile", {
      method: "POST",
      headers: { "content-length": String(MAX_ACTION_BYTES + 1) },
    });
    expect(status).toBe(413);
  });

  it("S138 that is larger than a form of text is refused early without a session", async () => {
    const begin = async (headers: Record<string, string>) => {
      const req = request({ port, host: "127.0.0.1", path: "/settings/profile", method: "POST", agent: false, headers });
      req.on("error", () => undefined);
      const answered = once(req, "response").then(([res]) => (res as IncomingMessage).statusCode);
      req.write(Buffer.alloc(80_000));
      return answered.finally(() => req.destroy());
    };
    const host = { host: `localhost:${port}` };
    const large = { ...host, "content-length": String(5 * 1024 * 1024) };
    const before = bodyBudget.takenBytes;
    expect(await begin(large)).toBe(413);
    expect(await begin({ ...large, cookie: `session-${port}=unknown` })).toBe(413);
    expect(bodyBudget.takenBytes).toBe(before);
    const { token } = await startSiteSession((await signedInPerson()).id, noOrigin);
    expect(await begin({ ...large, cookie: `session-${port}=${token}` })).toBe(200);
    await expect.poll(() => bodyBudget.takenBytes).toBe(before);
    expect((await ask("/login", { method: "POST", headers: { "transfer-encoding": "chunked" }, body: "a=b" })).status).toBe(200);
  });
});

const unserved = [
  "/api/auth/_log",
  "/api/auth/%5Flog",
  "/api/auth/_log/x",
  "/api/auth/x",
  "/%61pi/auth/_log",
  "/api%2Fauth/_log",
];
it.each(unserved)("S51 strangers cannot write into the log through next-auth: %s", async (path) => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = "level=error&code=DATABASE_LOST&error=all+is+lost";
  expect((await ask(path, { method: "POST", headers, body })).status).toBe(404);
  expect((await ask("/api/auth/session")).status).toBe(200);
});

it.each([
  ["csrf?callbackUrl=x", 400],
  ["csrf?callbackUrl=%2F%2F%5B", 400],
  ["session?callbackUrl=%2F&callbackUrl=javascript%3Ax", 400],
  ["error?error=%E4%B8%AD", 400],
  ["error?error=a%0Ab", 400],
  [`csrf?callbackUrl=https%3A%2F%2F${encodeURIComponent("鍵".repeat(600))}`, 400],
  [`csrf?callbackUrl=%2F%5C${encodeURIComponent("鍵".repeat(600))}`, 400],
  ["csrf?callbackUrl=%2Fsettings", 200],
  ["signin?callbackUrl=https%3A%2F%2Fa.example", 200],
  ["error?error=AccessDenied", 200],
])("S51 next-auth gets no parameters on which it fails: %s", async (path, status) => {
  expect((await ask(`/api/auth/${path}`)).status).toBe(status);
});

it("S51 next-auth gets no callback URL from a cookie", async () => {
  const headers = { cookie: "a=b; next-auth.callback-url=x; __Secure-next-auth.callback-url=y; c=d" };
  const { seen } = await ask("/api/auth/csrf", { headers });
  expect(seen.headers.cookie).toBe("a=b; next-auth.callback-url=; __Secure-next-auth.callback-url=; c=d");
});

describe("health", () => {
  it("shows that the process is alive and that the service is ready", async () => {
    expect(await ask("/healthz")).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(JSON.parse((await ask("/readyz")).body)).toEqual({ status: "ready", database: "up", migrations: "applied" });
  });

  it("is not ready while a migration is missing", async () => {
    await asOwner(`update "_prisma_migrations" set rolled_back_at = now()`);
    const { status, headers, body } = await ask("/readyz");
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("2");
    expect(JSON.parse(body)).toMatchObject({ status: "unavailable", database: "up", migrations: "pending" });
    await asOwner(`update "_prisma_migrations" set rolled_back_at = null`);
    expect((await ask("/readyz")).status).toBe(200);
  });

  it("S137 checks once for all simultaneous callers whether it is ready", async () => {
    await ask("/readyz");
    const { max = 10 } = pool().options;
    const held = await Promise.all(Array.from({ length: max }, () => pool().connect()));
    const answers = Array.from({ length: 200 }, () => ask("/readyz"));
    await expect.poll(() => pool().waitingCount).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const looks = pool().waitingCount;
    for (const client of held) client.release();
    await Promise.all(answers);
    expect(looks).toBeLessThanOrEqual(2);
  });

  it("S137 is ready even if a caller whose statements are waiting asked first", async () => {
    await ask("/readyz");
    let isOver = false;
    const slow = () => pool().query("select pg_sleep(1)");
    const waiting = Array.from({ length: 12 }, () => requestContext.run({ requestId: "", ip: "127.0.0.2" }, slow));
    void Promise.all(waiting).then(() => {
      isOver = true;
    });
    const first = ask("/readyz", { localAddress: "127.0.0.2" });
    expect([(await ask("/readyz")).status, (await first).status, isOver]).toEqual([200, 200, false]);
    await Promise.all(waiting);
  });

  it.each(["", "?host=/nowhere"])(
    "reports an outage of the database (URL with %s), during which pages answer 503",
    async (where) => {
      const { DATABASE_URL } = env();
      await closeConnections();
      provideSettings({ DATABASE_URL: `postgres://nobody@127.0.0.1:1/nothing${where}` });
      expect((await ask("/healthz")).status).toBe(200);
      for (const path of ["/readyz", "/login", "/api/whoami-v2", "/oauth/userinfo"]) {
        const { status, headers } = await ask(path, { headers: { authorization: "Bearer kh_something" } });
        expect([path, status]).toEqual([path, 503]);
        expect(Number(headers["retry-after"])).toBeGreaterThan(0);
      }
      expect(
        isDatabaseDown(
          await db()
            .user.count()
            .catch((error: unknown) => error),
        ),
      ).toBe(true);
      await closeConnections();
      provideSettings({ DATABASE_URL });
      expect((await ask("/readyz")).status).toBe(200);
      expect((await ask("/login")).status).toBe(200);
    },
  );
});

it("S137 a connection that sends many requests without waiting for answers is ended", async () => {
  const sent = async (count: number) => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    let answered = 0;
    socket.on("data", (bytes) => {
      answered += bytes.toString("latin1").split("HTTP/1.1 200").length - 1;
      if (answered === count) socket.end();
    });
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(count));
    await once(socket, "close");
    return answered;
  };
  expect(await sent(20)).toBe(20);
  expect(await sent(1_000)).toBeLessThan(100);
});

describe("S137 requests while the process is busy", () => {
  let isBusy = false;
  const soon = { timeout: 30_000 };
  let now = 1_000_000;
  /** With a stopped clock, a caller's used share stays used. */
  const standStill = { isBusy: () => isBusy, now: () => now };
  afterEach(() => {
    isBusy = false;
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "100" });
  });

  it("wait for their turn or are refused, beginning with those of strangers", async () => {
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "1" });
    restartPace(standStill);
    const tokens = await Promise.all(
      ["ada", "bob"].map(async (name) => {
        const { id } = await signedInPerson(name);
        const input = { name: "t", scopes: ["openid"], expiresInDays: 1 };
        return (await createPersonalAccessToken(operatorCommand, id, input, noOrigin)).token;
      }),
    );
    const askAll = (count: number, token?: string, path = "/") => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : { accept: "text/html" };
      const answers: Answer[] = [];
      for (let at = 0; at < count; at++)
        ask(path, { headers }).then(
          (answer) => answers.push(answer),
          () => undefined, // it still waits when the test ends
        );
      return answers;
    };
    const settled = (answers: Answer[], least: number) => expect.poll(() => answers.length, soon).toBeGreaterThanOrEqual(least);
    const refused = (answers: Answer[]) => answers.filter(({ status }) => status === 429);

    const calm = [askAll(45), ...tokens.map((token) => askAll(5, token, "/api/whoami-v2"))];
    for (const answers of calm) await settled(answers, 5);
    await settled(calm[0] as Answer[], 45);
    now += 250; // without this pause, these and the earlier requests would count as a flood
    const more = askAll(30, tokens[1]);
    await settled(more, 30);
    expect([...calm, more].flatMap(refused)).toEqual([]);

    const metrics = startProcessMetrics("web");
    const paced = async () => {
      const { values = [] } = (await metrics.report()).find(({ name }) => name === "keyhook_requests_paced_total") ?? {};
      return Object.fromEntries(values.map(({ labels, value }) => [`${labels.party} ${labels.outcome}`, value]));
    };
    isBusy = true;
    const [strangers, ada, bob] = [askAll(20), askAll(5, tokens[0]), askAll(70, tokens[1])];
    await settled(ada, 5);
    expect(refused(ada)).toEqual([]);
    await expect.poll(() => refused(strangers).length, soon).toBeGreaterThan(5);
    expect(refused(strangers)[0]?.headers).toMatchObject({ "retry-after": "11", ratelimit: '"anonymous";r=0;t=11' });
    expect(refused(strangers)[0]?.body).toContain("too many requests without a sign-in have come from your IP address");
    await expect.poll(() => refused(bob)[0]?.headers.ratelimit, soon).toBe('"account";r=0;t=11');
    expect(refused(bob)[0]?.body).toContain("your account has sent too many requests");
    const counted = async () => {
      const { "address refused": address = 0, "account refused": account = 0, "protocol refused": protocol } = await paced();
      return [address - refused(strangers).length, account - refused(bob).length, protocol];
    };
    await expect.poll(counted, soon).toEqual([0, 0, 0]);
    expect((await paced())["address waited"]).toBeGreaterThan(0);
    metrics.stop();
  }, 60_000);

  it.each([
    ["/large", "127.0.0.6", "127.0.0.7"],
    ["/works", "127.0.0.8", "127.0.0.9"],
  ])("count for more if their answers are large, or took much work: %s", async (path, one, other) => {
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "1" });
    restartPace({ ...standStill, percent: 0.1 });
    isBusy = true;
    const [greedy, modest] = [{ localAddress: one }, { localAddress: other }];
    const statuses = async (paths: readonly string[], options: Options) => {
      const seen: number[] = [];
      for (const path of paths) seen.push((await ask(path, options)).status);
      return seen;
    };
    expect(await statuses([path, "/", "/", "/"], greedy)).toContain(429);
    expect(await statuses(["/", "/", "/", "/"], modest)).toEqual([200, 200, 200, 200]);
  });

  it.each(["/v1/chat/completions", "/api/repos/create"])(
    "count for more if their bodies take long to parse: %s",
    async (path) => {
      provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "1" });
      restartPace({ ...standStill, percent: 0.1 });
      isBusy = true;
      const { accessToken } = await somebodyWithToken("manage-repos");
      const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
      const statuses = async (names: number) => {
        const body = `{${Array.from({ length: names }, (_, at) => `"name${at}":1`)}}`;
        const seen: number[] = [];
        for (let each = 0; each < 4; each++) seen.push((await ask(path, { method: "POST", headers, body })).status);
        return seen;
      };
      expect(await statuses(1)).not.toContain(429);
      expect(await statuses(90_000)).toContain(429);
    },
  );

  it.each([
    ["are large", "_1_a", "a".repeat(4_000_000)],
    ["have many values", "0", "[".concat("1,".repeat(4_900), "1]")],
  ])("count for more if their forms %s", async (_, name, value) => {
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "1" });
    restartPace({ ...standStill, percent: 0.1 });
    isBusy = true;
    const { token } = await startSiteSession((await signedInPerson("eve")).id, noOrigin);
    const type = { "content-type": "multipart/form-data; boundary=x", "next-action": "x" };
    const headers = { ...type, accept: "text/html", cookie: `${siteSessionCookie().name}=${token}` };
    const statuses = async (content: string, count: number) => {
      const body = `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n--x--\r\n`;
      const seen: number[] = [];
      for (let each = 0; each < count; each++) seen.push((await ask("/read", { method: "POST", headers, body })).status);
      return seen;
    };
    expect(await statuses("1", 3)).not.toContain(429);
    expect(await statuses(value, 6)).toContain(429);
  });

  it("are counted at every kind of URL, and an account stays known whatever others send", async () => {
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "1" });
    restartPace({ ...standStill, percent: 0.1 });
    const accept = "text/html";
    // A proxy with a password of its own sends this header for everybody.
    const authorization = "Basic c3RhZ2luZzpzdGFnaW5n";
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map(async (name) => {
        const { token } = await startSiteSession((await signedInPerson(name)).id, noOrigin);
        return { accept, authorization, cookie: `${siteSessionCookie().name}=${token}` };
      }),
    );
    const statuses = (count: number, path: string, options: Options) => {
      const seen: number[] = [];
      for (let at = 0; at < count; at++)
        ask(path, options).then(
          ({ status }) => seen.push(status),
          () => undefined, // it still waits when the test ends
        );
      return seen;
    };
    const known = [ask("/", { headers: ada }), ask("/", { headers: bob })];
    expect((await Promise.all(known)).map(({ status }) => status)).toEqual([200, 200]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    await ask("/", { headers: bob });
    vi.setSystemTime(Date.now() + 10 * 60_000);

    isBusy = true;
    try {
      const lfs = `/x.git/info/lfs/objects/${"0".repeat(64)}`;
      const expectPaced = (count: number, path: string, options: Options) => {
        const seen = statuses(count, path, options);
        return expect.poll(() => seen, soon).toContain(429);
      };
      await expectPaced(70, "/_next/static/x", { localAddress: "127.0.0.2" });
      await expectPaced(10, `/ada/model/tree/main${lfs}`, { localAddress: "127.0.0.3" });
      await expectPaced(160, "/oauth/jwks", { localAddress: "127.0.0.4" });
      await expectPaced(70, `/relay/${"x".repeat(43)}/`, { localAddress: "127.0.0.5" });
      await expectPaced(10, "/", { headers: { accept, authorization: "Bearer unknown" } });
      await expectPaced(40, "/", { headers: ada });
      expect((await ask("/", { headers: bob })).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  }, 60_000);

  it("S137 an account that varies its headers displaces only its own cached credentials", async () => {
    provideSettings({ ANONYMOUS_ADDRESS_PERCENT: "99" });
    restartPace({ isBusy: () => isBusy });
    const { token } = await startSiteSession((await signedInPerson("eve")).id, noOrigin);
    const cookie = `${siteSessionCookie().name}=${token}`;
    const before = knownCredentials();
    for (let each = 0; each < KNOWN_OF_ACCOUNT_MAX + 20; each++)
      expect((await ask("/", { headers: { accept: "text/html", cookie, authorization: `Basic ${each}` } })).status).toBe(200);
    await expect.poll(() => knownCredentials() - before).toBe(KNOWN_OF_ACCOUNT_MAX);
  }, 60_000);
});
