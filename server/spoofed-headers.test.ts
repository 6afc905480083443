import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { provideSettings } from "#core/env.ts";
import { FAILURES_OF_CLIENT } from "#core/oauth/failure-throttle.ts";
import { handleOidc } from "#core/oauth/handler.ts";
import { prepare } from "#core/oauth/testing/sign-in.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { handleRequest } from "./handle-request.ts";

/** S110: what a request says about its host and its sender has no effect. */
let world: World;
let isByServer = true;
beforeAll(async () => {
  world = await startWorld((req, res) => {
    if (isByServer) handleRequest(async (_, page) => void page.writeHead(404).end(), req, res);
    else void handleOidc(req, res, "127.0.0.1");
  });
});
beforeEach(() => {
  isByServer = true;
  provideSettings({ TRUST_PROXY: "" });
});
afterAll(() => world.stop());

const spoofed: Record<string, string> = {
  host: "evil.example:8443",
  forwarded: "for=203.0.113.9;host=evil.example;proto=https",
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-host": "evil.example",
  "x-forwarded-proto": "https",
  "x-forwarded-port": "8443",
  "x-forwarded-prefix": "/evil",
  "x-original-url": "/evil",
  "x-rewrite-url": "/evil",
  "x-real-ip": "203.0.113.9",
  "x-keyhook-client-address": "203.0.113.9",
};

type Sent = { headers?: Record<string, string>; method?: string; body?: string };

function send(path: string, { headers = {}, method = "GET", body }: Sent = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const req = request(`${world.origin}/`, { path, method, headers: { ...spoofed, ...headers }, agent: false }, (res) => {
      text(res).then((answer) => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: answer }), reject);
    });
    req.on("error", reject);
    req.end(body);
  });
}

describe.each([
  ["with server.ts", true],
  ["on a plain Next host", false],
])("S110 %s, spoofed headers do not change", (_, byServer) => {
  beforeEach(() => {
    isByServer = byServer;
  });

  test("the issuer or any endpoint in discovery", async () => {
    for (const path of ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]) {
      const [honest, lying] = [await (await fetch(world.origin + path)).json(), await send(path)];
      expect(JSON.parse(lying.body)).toEqual(honest);
      expect(lying.body).not.toContain("evil");
    }
  });

  test("redirects or cookies", async () => {
    const { app, browser } = await prepare(world);
    const url = new URL(world.authorizeUrl(app, { code_challenge: "x".repeat(43), code_challenge_method: "S256" }));
    const path = url.pathname + url.search;
    const answer = await send(path, { headers: { cookie: browser.cookieHeader(path) } });
    expect(answer.status).toBe(303);
    expect(new URL(String(answer.headers.location), world.origin).origin).toBe(world.origin);
    const cookies = answer.headers["set-cookie"] as string[];
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      // ORIGIN is http here. A cookie that a spoofed "https" makes Secure would be lost, and a cookie with a Domain would leak.
      expect(cookie).not.toMatch(/; *secure/i);
      expect(cookie).not.toMatch(/; *domain=/i);
      expect(cookie).toMatch(/; *httponly/i);
    }
  });

  test("the target of a sign-out without a session", async () => {
    const answer = await send("/oauth/logout");
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe(`${world.origin}/oauth/logout/success`);
  });

  test("the URL to which an error page links back", async () => {
    const answer = await send("/oauth/authorize?client_id=unknown", { headers: { accept: "text/html" } });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(`href="${world.origin}/"`);
    expect(answer.body).not.toContain("evil");
  });
});

describe("S110 the rate limit counts by the sender of the request", () => {
  const form = "grant_type=refresh_token&refresh_token=guess";
  const statusOf = async (clientId: string, address: string) => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      authorization: world.basic(clientId, `guess from ${address}`),
      ...Object.fromEntries(["x-forwarded-for", "x-real-ip", "x-keyhook-client-address"].map((name) => [name, address])),
      forwarded: `for=${address}`,
    };
    return (await send("/oauth/token", { method: "POST", headers, body: form })).status;
  };
  const exhaust = async (clientId: string, addressOf: (index: number) => string) => {
    const statuses = new Set<number>();
    for (let sent = 0; sent < FAILURES_OF_CLIENT; sent += 20) {
      const batch = await Promise.all(Array.from({ length: 20 }, (_, index) => statusOf(clientId, addressOf(sent + index))));
      for (const status of batch) statuses.add(status);
    }
    expect([...statuses]).toEqual([401]);
  };

  test("whatever X-Forwarded-For contains", async () => {
    const { app } = await prepare(world, { isConfidential: true });
    await exhaust(app.clientId, (index) => `203.0.113.${index}`);
    expect(await statusOf(app.clientId, "203.0.113.200")).toBe(429);
  });

  test("behind a trusted proxy by the last address that the proxy forwards", async () => {
    provideSettings({ TRUST_PROXY: "127.0.0.1,::1" });
    const { app } = await prepare(world, { isConfidential: true });
    await exhaust(app.clientId, (index) => `198.51.100.${index}, 203.0.113.7`);
    expect(await statusOf(app.clientId, "198.51.100.250, 203.0.113.7")).toBe(429);
    expect(await statusOf(app.clientId, "203.0.113.7, 203.0.113.8")).toBe(401);
  });
});
