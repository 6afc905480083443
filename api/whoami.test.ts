import { errorBodySchema, whoamiSchema } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken, revokePersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { disableUser } from "#core/accounts/users/disable-user.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { authorize, prepare, redemption, signIn } from "#core/oauth/testing/sign-in.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const WHOAMI = "/api/whoami-v2";

const ask = (token?: string, scheme = "Bearer") =>
  fetch(world.origin + WHOAMI, { headers: token === undefined ? {} : { authorization: `${scheme} ${token}` } });

async function identity(token: string) {
  const response = await ask(token);
  expect(response.status).toBe(200);
  return response.json();
}

/** The response must not reveal why the token is invalid. */
async function expectUnknown(token: string) {
  const response = await ask(token);
  expect(response.status).toBe(401);
  expect(response.headers.get("x-error-message")).toBe("Invalid credentials in Authorization header");
  expect(response.headers.get("www-authenticate")).toMatch(/^Bearer error="invalid_token"/);
  expect(errorBodySchema.parse(await response.json())).toEqual({
    error: "Invalid credentials in Authorization header",
    code: "unauthorized",
  });
}

const personalToken = async (userId: string, scopes: string[] = ["read-repos"], expiresInDays: number | null = 30) =>
  createPersonalAccessToken(operatorCommand, userId, { name: "my laptop", scopes, expiresInDays }, noOrigin);

describe("whoami-v2 with an OAuth token", () => {
  test("has the fields that clients read", async () => {
    const at = await prepare(world);
    const { id, username, email } = at.person;
    const orgId = await world.organization(`org-${username}`, { [id]: "contributor" });
    const { tokens } = await world.signInWith(
      at.app,
      at.session,
      at.browser,
      { scope: "openid profile email", orgIds: orgId },
      { scopes: ["email"], orgIds: [orgId] },
    );
    const body = await identity(tokens.access_token);
    expect(whoamiSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      type: "user",
      id,
      name: username,
      fullname: username,
      email,
      emailVerified: true,
      isPro: false,
      avatarUrl: `${world.origin}/avatars/${username}`,
      orgs: [
        { type: "org", id: orgId, name: `org-${username}`, roleInOrg: "contributor", plan: "enterprise", isEnterprise: true },
      ],
      auth: { type: "oauth", clientId: at.app.clientId },
    });
    expect(Math.abs(Date.parse(body.auth.expiresAt) - Date.now() - 28_800_000)).toBeLessThan(60_000);
    // Without `accessToken`, the command-line client uses the name of the stored token.
    expect(body.auth).not.toHaveProperty("accessToken");
    expect((await ask(tokens.access_token)).headers.get("cache-control")).toBe("no-store");
  });

  test("omits fields that no scope covers, and organizations that were not granted (S103)", async () => {
    const at = await signIn(world, {}, { scope: "openid profile" });
    await world.organization(`not-granted-${at.person.username}`, { [at.person.id]: "admin" });
    const body = await identity(at.tokens.access_token);
    for (const name of ["email", "emailVerified", "canPay", "billingMode"]) expect(body).not.toHaveProperty(name);
    expect(body.orgs).toEqual([]);
  });

  test("works without openid, since it is not an OpenID endpoint", async () => {
    const at = await signIn(world, { scopes: ["read-repos"] }, { scope: "read-repos" });
    expect(await identity(at.tokens.access_token)).toMatchObject({ id: at.person.id });
  });

  test("accepts a token whose audience is our API (S54)", async () => {
    const at = await prepare(world);
    const code = await authorize(at, { resource: world.origin });
    const response = await world.post("/oauth/token", { client_id: at.app.clientId, ...redemption(code) });
    const { access_token } = await response.json();
    expect(await identity(access_token)).toMatchObject({ id: at.person.id });
    await pool().query(
      `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{aud}', '"https://elsewhere.example"')
        WHERE model = 'AccessToken' AND client_id = $1`,
      [at.app.clientId],
    );
    await expectUnknown(access_token);
  });

  test("compares the scheme case-insensitively", async () => {
    const { tokens } = await signIn(world);
    for (const scheme of ["bearer", "BEARER", "Bearer"]) expect((await ask(tokens.access_token, scheme)).status).toBe(200);
  });
});

describe("S49 S112 S114 an OAuth token is invalid", () => {
  test.each<[string, (at: Awaited<ReturnType<typeof signIn>>) => Promise<unknown>]>([
    [
      "once its consent is revoked",
      ({ app }) => db().oAuthConsent.updateMany({ where: { clientId: app.clientId }, data: { revokedAt: new Date() } }),
    ],
    ["once its user is disabled", ({ person }) => disableUser(operatorCommand, person.id, noOrigin)],
    [
      "after it has expired",
      ({ app }) =>
        pool().query(
          `UPDATE oauth_artifact SET payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 28801))
            WHERE client_id = $1`,
          [app.clientId],
        ),
    ],
  ])("%s", async (_, end) => {
    const at = await signIn(world);
    await identity(at.tokens.access_token);
    await end(at);
    await expectUnknown(at.tokens.access_token);
  });

  test("soon after its app is blocked", async () => {
    const at = await signIn(world);
    await pool().query("UPDATE oauth_app SET blocked_at = now() WHERE id = $1", [at.app.id]);
    await pool().query("SELECT pg_notify('oauth_app', $1)", [at.app.clientId]);
    await expect.poll(async () => (await ask(at.tokens.access_token)).status).toBe(401);
    await expectUnknown(at.tokens.access_token);
  });

  test("for an organization that its user has left, which the response omits", async () => {
    const at = await prepare(world);
    const orgId = await world.organization(`left-${at.person.username}`, { [at.person.id]: "read" });
    const { tokens } = await world.signInWith(at.app, at.session, at.browser, { orgIds: orgId }, { orgIds: [orgId] });
    expect((await identity(tokens.access_token)).orgs).toHaveLength(1);
    await db().membership.deleteMany({ where: { orgId } });
    expect((await identity(tokens.access_token)).orgs).toEqual([]);
  });
});

describe("whoami-v2 with a personal access token", () => {
  test("names the token, its role, and every organization of its owner", async () => {
    const person = await world.user(`owner-${newId()}`);
    const orgId = await world.organization(`all-of-${person.username}`, { [person.id]: "admin" });
    const { token, expiresAt } = await personalToken(person.id);
    const body = await identity(token);
    expect(whoamiSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      id: person.id,
      name: person.username,
      email: person.email,
      orgs: [{ id: orgId, roleInOrg: "admin" }],
      auth: { type: "access_token", accessToken: { displayName: "my laptop", role: "read" } },
    });
    expect(Math.abs(Date.parse(body.auth.expiresAt) - Number(expiresAt))).toBeLessThan(1001);
    expect(Date.parse(body.auth.accessToken.createdAt)).toBeLessThanOrEqual(Date.now());
    expect(body.auth).not.toHaveProperty("clientId");
  });

  test.each([
    ["write-repos", "write"],
    ["manage-repos", "write"],
    ["read-repos", "read"],
  ])("has for the scope %s the role %s, and `expiresAt` only if the token expires", async (scope, role) => {
    const person = await world.user(`role-${newId()}`);
    const { token } = await personalToken(person.id, [scope], null);
    const { auth } = await identity(token);
    expect(auth.accessToken.role).toBe(role);
    expect(auth).not.toHaveProperty("expiresAt");
  });

  test("responds with 401 if the token is revoked or expired, or its owner disabled", async () => {
    const people = await Promise.all([1, 2, 3].map(() => world.user(`gone-${newId()}`)));
    const [revoked, expired, disabled] = await Promise.all(people.map(({ id }) => personalToken(id)));
    await revokePersonalAccessToken(operatorCommand, revoked?.id ?? "", noOrigin);
    await pool().query("UPDATE personal_access_token SET expires_at = now() WHERE id = $1", [expired?.id]);
    await disableUser(operatorCommand, people[2]?.id ?? "", noOrigin);
    for (const made of [revoked, expired, disabled]) await expectUnknown(made?.token ?? "");
  });

  test("accepts the token, but the protocol's endpoints reject it", async () => {
    const person = await world.user(`pat-${newId()}`);
    const { token } = await personalToken(person.id, ["openid", "profile"]);
    expect((await world.userinfo(token)).status).toBe(401);
    const at = await signIn(world, { isConfidential: true });
    const authorization = world.basic(at.app.clientId, at.app.secret as string);
    const introspection = await world.post("/oauth/introspect", { token }, { authorization });
    expect(await introspection.json()).toEqual({ active: false });
  });
});

describe("whoami-v2 without a valid token", () => {
  test("has 401 in the words that clients look for, and a challenge that contains no error", async () => {
    const response = await ask();
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer scope="openid profile", resource_metadata="${world.origin}/.well-known/oauth-protected-resource", DPoP algs="ES256 Ed25519 EdDSA"`,
    );
    expect(await response.json()).toMatchObject({ error: "Invalid username or password.", code: "unauthorized" });
  });

  test.each(["kh_oauth_unknown", "x", "a b", "", "%00", "ü", "=", "a,b", `kh_${"a".repeat(4000)}`])("%j: 401", async (token) => {
    const bytes = Buffer.from(token).toString("latin1");
    expect((await ask(bytes)).status).toBe(401);
  });

  test("has 401 for another scheme, and for a token in the query or in a cookie", async () => {
    const { tokens } = await signIn(world);
    const token = tokens.access_token;
    expect((await ask(token, "Basic")).status).toBe(401);
    expect((await fetch(`${world.origin}${WHOAMI}?access_token=${token}`)).status).toBe(401);
    expect((await fetch(world.origin + WHOAMI, { headers: { cookie: `token=${token}` } })).status).toBe(401);
  });

  test("has 401 for a refresh token, a code and an ID token", async () => {
    const at = await signIn(world, { isRefreshAllowed: true });
    for (const token of [at.tokens.refresh_token, at.code, at.tokens.id_token]) await expectUnknown(token);
  });
});

test("the list of agent harnesses is empty, in the form that huggingface_hub 2 needs, and cached for a day", async () => {
  const response = await fetch(`${world.origin}/api/agent-harnesses`);
  expect(response.headers.get("cache-control")).toBe("public, max-age=86400");
  expect(await response.json()).toEqual({ standardEnvVars: [], harnesses: {} });
});

test("an unknown URL is answered 404 with the usual error body", async () => {
  for (const path of ["/api/nothing", "/api/", "/images/nothing", `/images/${newId()}`]) {
    const response = await fetch(world.origin + path);
    expect(response.status).toBe(404);
    expect(errorBodySchema.parse(await response.json()).code).toBe("not_found");
  }
});
