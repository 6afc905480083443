import { afterAll, describe, expect, test } from "vitest";
import { db, pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { asApp, authorize, type Prepared, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";

const world = await startWorld();
afterAll(() => world.stop());

const TOKEN = "/oauth/token";

async function redeem(at: Prepared, form: Record<string, string | undefined>) {
  const response = await asApp(world, at.app, TOKEN, form);
  return { status: response.status, body: await response.json() };
}

describe("S37 the token endpoint", () => {
  test.each(["GET", "HEAD", "PUT", "DELETE", "PATCH"])("answers %s with 405 and names the allowed methods", async (method) => {
    const response = await fetch(world.origin + TOKEN, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
  });

  test.each([
    "/oauth/Token",
    "/OAUTH/TOKEN",
    "/oauth/token/",
    "/oauth/introspect/",
    "/oauth/%74oken",
    "/oauth",
    "/oauth/nothing",
  ])("is at one URL, and not at %s", async (path) => {
    const response = await world.post(path, { grant_type: "refresh_token" });
    expect(response.status).toBe(404);
  });

  test.each(["text/plain", "multipart/form-data; boundary=x", "application/xml", "application/jsonp", ""])(
    "refuses a body of type %j with 400 invalid_request",
    async (type) => {
      const response = await world.post(TOKEN, "grant_type=refresh_token", { "content-type": type });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: "invalid_request" });
    },
  );

  test("accepts the documented JSON form", async () => {
    const at = await prepare(world);
    const { code, verifier } = await authorize(at);
    const response = await fetch(world.origin + TOKEN, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify({ client_id: at.app.clientId, ...redemption({ code, verifier }) }),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ token_type: "bearer", scope: "openid profile" });
  });

  test.each([
    "[]",
    "null",
    "3",
    '"grant_type=refresh_token"',
    "{",
    '{"grant_type":1}',
    '{"grant_type":["a"]}',
    '{"a":{"b":"c"}}',
  ])("refuses JSON that is not a flat object of strings: %s", async (body) => {
    const response = await fetch(world.origin + TOKEN, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: "invalid_request" });
  });
});

describe("S38 token errors are RFC 6749 bodies", () => {
  const cases: [string, Record<string, string>][] = [
    ["no grant type", {}],
    ["unknown grant type", { grant_type: 'a "quoted" \\ thing' }],
    ["no code", { grant_type: "authorization_code" }],
    ["unknown code", { grant_type: "authorization_code", code: "ünknown", code_verifier: "v".repeat(43) }],
    ["a scope with invalid characters", { grant_type: "refresh_token", refresh_token: "x", scope: 'a"b\\' }],
    ["a short verifier", { grant_type: "authorization_code", code: "x", code_verifier: "short" }],
  ];

  test.each(cases)("%s", async (_, form) => {
    const at = await prepare(world);
    const response = await asApp(world, at.app, TOKEN, form);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const body = await response.json();
    expect(body.error).toMatch(/^invalid_request$|^unsupported_grant_type$|^invalid_grant$|^invalid_scope$/);
    // RFC 6749 §5.2: %x20-21 / %x23-5B / %x5D-7E
    expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(Object.keys(body).filter((name) => !["error", "error_description", "scope"].includes(name))).toEqual([]);
  });

  test("a successful response is not cached", async () => {
    const at = await prepare(world);
    const response = await asApp(world, at.app, TOKEN, redemption(await authorize(at)));
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("S42 grants", () => {
  test.each([
    "password",
    "client_credentials",
    "implicit",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "constructor",
    "__proto__",
  ])("%s fails with unsupported_grant_type", async (grant_type) => {
    const { body, status } = await redeem(await prepare(world), { grant_type, username: "a", password: "b" });
    expect([status, body.error]).toEqual([400, "unsupported_grant_type"]);
  });

  test("that the app does not have fail with unauthorized_client", async () => {
    const at = await prepare(world, { redirectUris: [], isDeviceFlowAllowed: true });
    const { body, status } = await redeem(at, {
      grant_type: "authorization_code",
      code: "x",
      redirect_uri: "https://a.example/",
    });
    expect([status, body.error]).toEqual([400, "unauthorized_client"]);
  });
});

describe("S21 a code", () => {
  test("has at least 128 bits and lives for at most a minute", async () => {
    const at = await prepare(world);
    const codes = [(await authorize(at)).code, (await authorize(at)).code];
    for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9_-]{22,}$/);
    expect(new Set(codes).size).toBe(2);
    const rows = await db().oAuthArtifact.findMany({ where: { model: "AuthorizationCode", clientId: at.app.clientId } });
    expect(rows).toHaveLength(2);
    for (const { payload, expiresAt, createdAt } of rows) {
      const { iat, exp } = payload as { iat: number; exp: number };
      expect(exp - iat).toBeLessThanOrEqual(60);
      expect(Number(expiresAt) - Number(createdAt)).toBeLessThanOrEqual(61_000);
    }
  });

  test("gives its tokens the organizations of its consent", async () => {
    const at = await prepare(world);
    const [granted, withheld] = await Promise.all(
      ["granted", "withheld"].map((name) => world.organization(`${name}-${at.person.username}`, { [at.person.id]: "read" })),
    );
    const code = await authorize(at, { orgIds: `${granted},${withheld}` }, { orgIds: [granted as string] });
    const { body } = await redeem(at, redemption(code));
    const claims = await (await world.userinfo(body.access_token)).json();
    expect(claims.orgs.map(({ sub }: { sub: string }) => sub)).toEqual([granted]);
  });
});

describe("S45 a code is refused with invalid_grant", () => {
  test("from another client, and stays valid for its own", async () => {
    const [at, thief] = [await prepare(world), await prepare(world)];
    const code = await authorize(at);
    expect(await redeem(thief, redemption(code))).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await redeem(at, redemption(code))).toMatchObject({ status: 200 });
  });

  test("with a registered redirect_uri to which it was not sent", async () => {
    const other = "https://app.example.test/other";
    const at = await prepare(world, { redirectUris: ["https://app.example.test/callback", other] });
    const code = await authorize(at);
    expect(await redeem(at, redemption(code, { redirect_uri: other }))).toMatchObject({ body: { error: "invalid_grant" } });
    expect((await redeem(at, { ...redemption(code), redirect_uri: undefined })).body.error).toBe("invalid_request");
  });

  test("after a minute", async () => {
    const at = await prepare(world);
    const code = await authorize(at);
    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 61))
        WHERE model = 'AuthorizationCode' AND client_id = $1`,
      [at.app.clientId],
    );
    expect(await redeem(at, redemption(code))).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("after its user is disabled or has revoked the consent", async () => {
    const [disabled, revoked] = [await prepare(world), await prepare(world)];
    const codes = [await authorize(disabled), await authorize(revoked)] as const;
    await db().user.update({ where: { id: disabled.person.id }, data: { disabledAt: new Date() } });
    await db().oAuthConsent.updateMany({ where: { clientId: revoked.app.clientId }, data: { revokedAt: new Date() } });
    expect((await redeem(disabled, redemption(codes[0]))).body).toMatchObject({ error: "invalid_grant" });
    expect((await redeem(revoked, redemption(codes[1]))).body).toMatchObject({ error: "invalid_grant" });
  });
});

describe("S46 the verifier", () => {
  test.each([
    ["wrong", "w".repeat(43)],
    ["missing", undefined],
    ["empty", ""],
  ])("that is %s fails with invalid_grant", async (_, code_verifier) => {
    const at = await prepare(world);
    const code = await authorize(at);
    const { status, body } = await redeem(at, { ...redemption(code), code_verifier });
    expect([status, body.error]).toEqual([400, "invalid_grant"]);
  });

  test("for a request without a challenge fails with invalid_grant (PKCE downgrade, RFC 9700 §2.1.1)", async () => {
    const at = await prepare(world, { isConfidential: true, isPkceRequired: false });
    const withoutChallenge = { code_challenge: undefined, code_challenge_method: undefined };
    const { code, verifier } = await authorize(at, withoutChallenge);
    expect((await redeem(at, redemption({ code, verifier }))).body).toMatchObject({ error: "invalid_grant" });

    const second = await authorize(at, withoutChallenge);
    expect(await redeem(at, { ...redemption(second), code_verifier: undefined })).toMatchObject({ status: 200 });
  });

  test.each([43, 72, 128])("may have %i characters", async (length) => {
    const at = await prepare(world);
    const verifier = "Az09-._~".repeat(16).slice(0, length);
    const challenge = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(verifier))).toString("base64url");
    const { code } = await authorize(at, { code_challenge: challenge });
    expect(await redeem(at, redemption({ code, verifier }))).toMatchObject({ status: 200 });
  });
});

describe("S54 resource (RFC 8707)", () => {
  test("that is unknown at the authorization endpoint is invalid_target", async () => {
    const at = await prepare(world);
    await expect(authorize(at, { resource: "https://elsewhere.example/" })).rejects.toThrow("error=invalid_target");
  });

  test("that is unknown or new at the token endpoint is 400 invalid_target", async () => {
    for (const resource of ["https://elsewhere.example/", "not a uri", `${world.origin}/api`, `${world.origin}#x`]) {
      const at = await prepare(world);
      const code = await authorize(at, { resource: world.origin });
      expect(await redeem(at, redemption(code, { resource }))).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    }
  });

  test.each([
    ["named again", true],
    ["left out", false],
  ])("that is our API binds the token to our API, with the resource %s in the token request", async (_, isNamedAgain) => {
    const at = await prepare(world, { isConfidential: true, isRefreshAllowed: true });
    const resource = `${world.origin}/`;
    const code = await authorize(at, { resource, scope: "openid profile read-repos" });
    const { body } = await redeem(at, redemption(code, isNamedAgain ? { resource } : {}));
    expect(body.scope.split(" ").sort()).toEqual(["openid", "profile", "read-repos"]);
    const audienceOf = async (token: string) => (await (await asApp(world, at.app, "/oauth/introspect", { token })).json()).aud;
    expect(await audienceOf(body.access_token)).toBe(env().ORIGIN);

    const { body: refreshed } = await redeem(at, { grant_type: "refresh_token", refresh_token: body.refresh_token });
    expect(await audienceOf(refreshed.access_token)).toBe(env().ORIGIN);
  });

  test("that is our API gets only the scopes that the user chose", async () => {
    const at = await prepare(world);
    const code = await authorize(
      at,
      { resource: world.origin, scope: "openid profile email read-repos" },
      { scopes: ["read-repos"] },
    );
    const { body } = await redeem(at, redemption(code));
    expect(body.scope.split(" ").sort()).toEqual(["openid", "profile", "read-repos"]);
  });
});

test("S30 the response names the granted scope if it differs from the requested one", async () => {
  const at = await signIn(world, {}, { scope: "openid profile email" }, { scopes: ["profile"] });
  expect(at.tokens.scope).toBe("openid profile");
});
