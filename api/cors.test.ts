import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepare, signIn } from "#core/oauth/testing/sign-in.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const origin = "https://a-page-somewhere.example";
const open: [string, string][] = [
  ["POST", "/oauth/token"],
  ["GET", "/oauth/userinfo"],
  ["POST", "/oauth/userinfo"],
  ["POST", "/oauth/revoke"],
  ["GET", "/oauth/jwks"],
  ["GET", "/.well-known/openid-configuration"],
  ["GET", "/.well-known/oauth-authorization-server"],
  ["GET", "/.well-known/oauth-protected-resource"],
  ["GET", "/api/whoami-v2"],
  ["GET", "/api/agent-harnesses"],
];
const closed: [string, string][] = [
  ["GET", "/oauth/authorize"],
  ["POST", "/oauth/authorize"],
  ["GET", "/oauth/authorize/some-interaction"],
  ["GET", "/oauth/logout"],
  ["POST", "/oauth/logout"],
  ["POST", "/oauth/logout/confirm"],
  ["GET", "/oauth/logout/success"],
];

const allowed = (response: Response) => response.headers.get("access-control-allow-origin");

describe("S53 any page may call with a token, and never with the user's cookies", () => {
  test.each(open)("%s %s", async (method, path) => {
    const preflight = await fetch(world.origin + path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": method,
        "access-control-request-headers": "authorization, content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(["*", origin]).toContain(allowed(preflight));
    expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
    expect(Number(preflight.headers.get("access-control-max-age"))).toBeGreaterThan(0);
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();

    const answer = await fetch(world.origin + path, { method, headers: { origin } });
    expect(["*", origin]).toContain(allowed(answer));
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    if (allowed(answer) === origin) expect(answer.headers.get("vary")).toMatch(/origin/i);
  });

  test("a page can also read every failure, and the challenge of a 401", async () => {
    const { app } = await prepare(world);
    const from = { origin };
    const failures = await Promise.all([
      world.post("/oauth/token", {}, from),
      world.post("/oauth/token", { client_id: app.clientId, grant_type: "authorization_code" }, from),
      world.post("/oauth/token", "x".repeat(100_000), from),
      world.post("/oauth/token", "a=%zz", from),
      fetch(`${world.origin}/oauth/userinfo`, { headers: { origin, authorization: "Bearer x" } }),
      fetch(`${world.origin}/oauth/nothing`, { headers: from }),
      fetch(`${world.origin}/api/whoami-v2`, { headers: { origin, authorization: "Bearer x" } }),
      fetch(`${world.origin}/api/nothing`, { headers: from }),
    ]);
    for (const failure of failures) {
      expect(failure.status).toBeGreaterThanOrEqual(400);
      expect(["*", origin]).toContain(allowed(failure));
    }
    for (const failure of [failures[4], failures[6]]) {
      expect(failure?.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
    }
  });

  test("a page can send the whole exchange: code, userinfo, revocation", async () => {
    const at = await signIn(world);
    const userinfo = await fetch(`${world.origin}/oauth/userinfo`, {
      headers: { origin, authorization: `Bearer ${at.tokens.access_token}` },
    });
    expect(userinfo.status).toBe(200);
    expect(["*", origin]).toContain(allowed(userinfo));
    const revoked = await world.post("/oauth/revoke", { client_id: at.app.clientId, token: at.tokens.access_token }, { origin });
    expect(revoked.status).toBe(200);
    expect(["*", origin]).toContain(allowed(revoked));
  });
});

describe("S53 no page may call endpoints that authenticate by cookies", () => {
  test.each(closed)("%s %s", async (method, path) => {
    const preflight = await fetch(world.origin + path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method },
    });
    expect(preflight.status).toBe(405);
    expect(allowed(preflight)).toBeNull();
    const answer = await fetch(world.origin + path, { method, headers: { origin }, redirect: "manual" });
    expect(allowed(answer)).toBeNull();
  });
});
