import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { closeConnections, pool } from "#core/db.ts";
import { databaseUrl, provideSettings } from "#core/env.ts";
import { rotateSecret } from "#core/oauth/apps/app-secrets.ts";
import type { Browser } from "#core/oauth/testing/browser.ts";
import { startCuttableProxy } from "#core/oauth/testing/cuttable-proxy.ts";
import { asApp, authorize, prepare, redemption, refresh, type SignIn, signIn } from "#core/oauth/testing/sign-in.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { handleRequest } from "./handle-request.ts";

let world: World;
let proxy: Awaited<ReturnType<typeof startCuttableProxy>>;
let at: SignIn;
let onlyOnSite: Browser;
const direct = databaseUrl();

beforeAll(async () => {
  proxy = await startCuttableProxy(direct);
  provideSettings({ DATABASE_URL: proxy.url });
  await closeConnections();
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(200).end("page"), req, res));
  at = await signIn(world, { isConfidential: true, isRefreshAllowed: true });
  onlyOnSite = world.browser();
  await world.signIn(onlyOnSite, at.person);
});
afterAll(async () => {
  proxy.restore();
  await world.stop();
  await closeConnections();
  await proxy.stop();
});

const html = { accept: "text/html" };

const calls: Record<string, () => Promise<Response>> = {
  "authorize, signed in": () => at.browser.fetch(world.authorizeUrl(at.app, challenge)),
  "authorize, signed out": () => world.browser().fetch(world.authorizeUrl(at.app, challenge)),
  "code exchange": () => asApp(world, at.app, "/oauth/token", redemption({ code: "x", verifier: "v".repeat(43) })),
  refresh: () => asApp(world, at.app, "/oauth/token", { grant_type: "refresh_token", refresh_token: at.tokens.refresh_token }),
  userinfo: () => world.userinfo(at.tokens.access_token),
  introspection: () => asApp(world, at.app, "/oauth/introspect", { token: at.tokens.access_token }),
  revocation: () => asApp(world, at.app, "/oauth/revoke", { token: "x" }),
  logout: () => at.browser.fetch("/oauth/logout"),
  "logout, by somebody whom the engine does not know yet": () => onlyOnSite.fetch("/oauth/logout"),
  "whoami-v2": () => fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${at.tokens.access_token}` } }),
  "an avatar": () => fetch(`${world.origin}/avatars/${at.person.username}`),
  "a page": () => fetch(`${world.origin}/login`, { headers: html }),
  readiness: () => fetch(`${world.origin}/readyz`),
};
const challenge = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };

describe("S51 while the database is away", () => {
  beforeAll(() => proxy.cut());
  afterAll(() => proxy.restore());

  test.each(Object.keys(calls))("%s soon answers 503 with Retry-After, and reveals no internals", async (name) => {
    for (let round = 0; round < 3; round++) {
      const response = await (calls[name] as () => Promise<Response>)();
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      const body = await response.text();
      expect(body).not.toMatch(/postgres|ECONN|5432|pg_|at .*\.ts|Connection terminated/i);
      if (response.headers.get("content-type")?.startsWith("application/json") && name !== "readiness") {
        expect(["temporarily_unavailable", "unavailable"]).toContain(JSON.parse(body).code ?? JSON.parse(body).error);
      }
    }
  });

  test("a browser gets a page about the outage instead of a redirect to the app", async () => {
    const response = await at.browser.fetch(world.authorizeUrl(at.app, challenge), { headers: html });
    expect(response.headers.get("location")).toBeNull();
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await response.text()).toContain("Temporarily unavailable");
  });

  test("a page of the service is replaced by a page about the outage, without scripts", async () => {
    const response = await fetch(`${world.origin}/settings?next=1`, { headers: html });
    const page = await response.text();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page).toContain("<h1>Temporarily unavailable</h1>");
    expect(page).toContain('href="/settings?next=1"');
    expect(page).toContain(response.headers.get("x-request-id"));
    expect(page).not.toContain("<script");
  });

  test("endpoints that need no database still answer", async () => {
    expect((await fetch(`${world.origin}/healthz`)).status).toBe(200);
    for (const path of [
      "/.well-known/openid-configuration",
      "/.well-known/oauth-protected-resource",
      "/oauth/jwks",
      "/api/agent-harnesses",
    ]) {
      expect((await fetch(world.origin + path)).status).toBe(200);
    }
  });
});

test("S51 everything works without a restart as soon as the database is back", async () => {
  proxy.cut();
  await Promise.all(Object.values(calls).map((call) => call().then((response) => response.arrayBuffer())));
  proxy.restore();
  await expect.poll(async () => (await fetch(`${world.origin}/readyz`)).status).toBe(200);
  const fresh = await signIn(world, { isConfidential: true, isRefreshAllowed: true });
  expect(await refresh(fresh, fresh.tokens.refresh_token)).toMatchObject({ status: 200 });
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
});

test("S51 a code survives an outage, and a retry of the app redeems the code", async () => {
  const prepared = await prepare(world);
  const code = await authorize(prepared);
  proxy.cut();
  expect((await asApp(world, prepared.app, "/oauth/token", redemption(code))).status).toBe(503);
  proxy.restore();
  await expect.poll(async () => (await asApp(world, prepared.app, "/oauth/token", redemption(code))).status).toBe(200);
});

test("S52 a secret that was rotated while notifications could not arrive is not accepted afterwards", async () => {
  const { app } = await prepare(world, { isConfidential: true });
  const withSecret = async (secret: string | undefined) =>
    (await asApp(world, { ...app, secret }, "/oauth/introspect", { token: "x" })).status;
  expect(await withSecret(app.secret)).toBe(200);

  // The change is committed past the proxy, and its notification goes to a connection that is cut.
  proxy.cut();
  await withSecret(app.secret);
  provideSettings({ DATABASE_URL: direct });
  const { secret } = await elsewhere(() => rotateSecret(operatorCommand, app.id, {}, noOrigin));
  proxy.restore();
  await expect.poll(() => withSecret(secret)).toBe(200);
  expect(await withSecret(app.secret)).toBe(401);
});

/** Runs as another process would, with connections of its own. */
async function elsewhere<T>(run: () => Promise<T>): Promise<T> {
  const { keyhookConnections: kept } = globalThis as unknown as { keyhookConnections: { open?: unknown } };
  const ours = kept.open;
  kept.open = undefined;
  try {
    return await run();
  } finally {
    await closeConnections();
    kept.open = ours;
    await pool()
      .query("SELECT 1")
      .catch(() => undefined);
  }
}
