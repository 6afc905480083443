import { scopes } from "@keyhook/sdk";
import * as openid from "openid-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { addressKey } from "#core/accounts/address-key.ts";
import { clearThrottle, ENTRIES_IN_ALL, throttleKey } from "#core/accounts/throttle.ts";
import { DATA_MAX_BYTES } from "#core/audit/bounded-json.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { ASSERTIONS_OF_CLIENT } from "../authorization/prepare-authorization.ts";
import { setHostRule } from "../documents/hosts/host-rules.ts";
import { openQuestion, PKCE } from "../testing/authorization.ts";
import { proofKey } from "../testing/dpop.ts";
import { asApp, authorize, prepare, redemption, refresh } from "../testing/sign-in.ts";
import { startWorld, type TestApp } from "../testing/world.ts";
import { CHANGES_OF_APP, REGISTRATIONS, REGISTRATIONS_AGAIN, REGISTRATIONS_OF_ADDRESS } from "./handle-registration.ts";
import { makeRoom } from "./register-app.ts";
import { setRegistrationPolicy } from "./registration-policy.ts";

const world = await startWorld();
await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
afterAll(() => world.stop());
beforeEach(() => pool().query("DELETE FROM throttle WHERE key LIKE 'registration:%'"));

const REGISTER = "/oauth/register";
const REDIRECT = "https://agent.example.test/callback";
const publicAgent = { client_name: "Quill", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };

// biome-ignore lint/suspicious/noExplicitAny: responses whose members the tests name
type Body = any;

const send = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(world.origin + REGISTER, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });

async function register(metadata: Record<string, unknown> = {}): Promise<Body> {
  const answer = await send({ ...publicAgent, ...metadata });
  const body = await answer.json();
  expect([answer.status, body.error_description]).toEqual([201, undefined]);
  return body;
}

function manage(registered: Body, method: string, body?: unknown, token: string = registered.registration_access_token) {
  return fetch(registered.registration_client_uri, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const asTestApp = (registered: Body): TestApp => ({
  id: "",
  clientId: registered.client_id,
  secret: registered.client_secret,
});

const visitor = async (registered: Body) => ({ ...(await prepare(world)), app: asTestApp(registered) });
const here = { redirect_uri: REDIRECT };

async function metadataDocument() {
  return (await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).json();
}

describe("the operator's switch", () => {
  test("while off, refuses registrations and is missing from discovery", async () => {
    await setRegistrationPolicy(operatorCommand, { isOn: false }, noOrigin);
    await expect.poll(metadataDocument).not.toHaveProperty("registration_endpoint");
    const refused = await send(publicAgent);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: "access_denied",
      error_description: expect.stringContaining("client ID metadata document"),
    });
    expect(await db().oAuthApp.count({ where: { name: "Quill" } })).toBe(0);

    await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
    await expect.poll(metadataDocument).toHaveProperty("registration_endpoint", world.origin + REGISTER);
    const oidc = await (await fetch(`${world.origin}/.well-known/openid-configuration`)).json();
    expect(oidc).toEqual(await metadataDocument());
    expect(await db().auditEvent.count({ where: { type: "installation.registration_policy" } })).toBeGreaterThanOrEqual(3);
  });

  test("while off, keeps registered apps, which can be read and deleted", async () => {
    const registered = await register();
    await setRegistrationPolicy(operatorCommand, { isOn: false }, noOrigin);
    await expect.poll(metadataDocument).not.toHaveProperty("registration_endpoint");
    expect((await manage(registered, "GET")).status).toBe(200);
    expect((await manage(registered, "PUT", { ...publicAgent, client_id: registered.client_id })).status).toBe(403);
    expect(await authorize(await visitor(registered), here)).toHaveProperty("code");
    expect((await manage(registered, "DELETE")).status).toBe(204);
    await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
    await expect.poll(metadataDocument).toHaveProperty("registration_endpoint");
  });
});

describe("the response (RFC 7591 §3.2.1)", () => {
  test("is 201 with the whole registration", async () => {
    const metadata = {
      ...publicAgent,
      client_uri: "https://agent.example.test/",
      logo_uri: "https://agent.example.test/logo.png",
      scope: "openid profile read-repos something-elsewhere",
      contacts: ["hello@agent.example.test"],
      software_id: "quill",
      software_version: "1.2",
      unknown_member: { "is ignored": true },
    };
    const answer = await send(metadata);
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
    const body = await answer.json();
    const { unknown_member: _, ...taken } = metadata;
    expect(body).toEqual({
      ...taken,
      scope: "openid profile read-repos offline_access",
      client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      client_id_issued_at: expect.any(Number),
      client_secret_expires_at: 0,
      grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      response_types: ["code"],
      id_token_signed_response_alg: "RS256",
      registration_access_token: expect.stringMatching(/^kh_registration_[\w-]{43}$/),
      registration_client_uri: `${world.origin}${REGISTER}/${body.client_id}`,
    });
  });

  test("is 201 without metadata, for an app with the device flow and a secret", async () => {
    for (const metadata of [{}, { redirect_uris: [] }, { client_name: null, scope: "" }]) {
      const answer = await send(metadata);
      const body = await answer.json();
      expect(answer.status).toBe(201);
      expect(body).toMatchObject({
        client_name: "Unnamed app",
        token_endpoint_auth_method: "client_secret_basic",
        client_secret: expect.stringMatching(/^kh_secret_/),
        redirect_uris: [],
        response_types: [],
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      });
      const device = await asApp(world, asTestApp(body), "/oauth/device", {});
      expect(device.status).toBe(200);
    }
  });

  test("S55 S85 S101 has credentials that are stored only as hashes, and an ID that is not a URL", async () => {
    const registered = await register({ token_endpoint_auth_method: "client_secret_post" });
    const { rows } = await pool().query(
      `SELECT to_jsonb(a)::text || coalesce((SELECT jsonb_agg(s)::text FROM oauth_app_secret s WHERE s.app_id = a.id), '') AS kept
         FROM oauth_app a WHERE client_id = $1`,
      [registered.client_id],
    );
    expect(rows[0].kept).toContain("client_secret_post");
    for (const secret of [registered.client_secret, registered.registration_access_token]) {
      expect(secret.length).toBeGreaterThan(40);
      expect(rows[0].kept).not.toContain(secret);
    }
    const { rows: log } = await pool().query(`SELECT jsonb_agg(e)::text AS kept FROM audit_event e`);
    expect(log[0].kept).toContain(registered.client_id);
    expect(log[0].kept).not.toContain(registered.registration_access_token);
  });
});

describe("an app that registered itself", () => {
  test("signs a user in, and refreshes without offline_access", async () => {
    const at = await visitor(await register());
    const code = await authorize(at, { ...here, scope: "openid profile" });
    const answer = await asApp(world, at.app, "/oauth/token", redemption(code, here));
    const tokens = await answer.json();
    expect(tokens).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
    expect((await world.userinfo(tokens.access_token)).status).toBe(200);
    expect((await refresh(at, tokens.refresh_token)).status).toBe(200);
  });

  test("may send its secret in either way, and needs PKCE", async () => {
    for (const method of ["client_secret_basic", "client_secret_post"]) {
      const registered = await register({ token_endpoint_auth_method: method });
      const at = await visitor(registered);
      const form = redemption(await authorize(at, here), here);
      const own = { client_id: registered.client_id, client_secret: registered.client_secret };
      const answer =
        method === "client_secret_post"
          ? await world.post("/oauth/token", { ...form, ...own })
          : await asApp(world, at.app, "/oauth/token", form);
      expect(await answer.json()).toHaveProperty("access_token");
      const bare = await at.browser.fetch(world.authorizeUrl(at.app, here));
      expect(bare.headers.get("location")).toContain("error=invalid_request");
      expect((await world.post("/oauth/token", { ...form, client_id: registered.client_id })).status).toBe(401);
    }
  });

  test("S29 has no owner and is not verified, and its users are asked for consent", async () => {
    const { app } = (await openQuestion(await visitor(await register()), here)).request;
    expect(app).toMatchObject({
      name: "Quill",
      owner: null,
      isSelfRegistered: true,
      isVerified: false,
      isFirstParty: false,
    });
  });

  test("may request every scope if it registered none, and gets only the required ones by default", async () => {
    const registered = await register();
    expect(registered.scope.split(" ")).toEqual([...scopes, "offline_access"]);
    const silent = await openQuestion(await visitor(registered), { ...here, scope: undefined });
    expect(silent.request.scopes.map(({ scope }) => scope)).toEqual(["openid", "profile"]);
    const outspoken = await openQuestion(await visitor(registered), { ...here, scope: "openid jobs" });
    expect(outspoken.request.scopes.map(({ scope }) => scope)).toEqual(["openid", "jobs"]);

    const modest = await register({ scope: "openid read-repos" });
    const asked = await openQuestion(await visitor(modest), { ...here, scope: undefined });
    expect(asked.request.scopes.map(({ scope }) => scope)).toEqual(["openid", "read-repos"]);
  });

  test("may listen on any port if it is a program on the device (RFC 8252)", async () => {
    const at = await visitor(await register({ redirect_uris: ["http://127.0.0.1:3118/callback"] }));
    expect(await authorize(at, { redirect_uri: "http://127.0.0.1:40123/callback" })).toHaveProperty("code");
  });
});

describe("RFC 7591 §3.2.2 metadata that cannot be registered", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["S6 plain http elsewhere", { redirect_uris: ["http://agent.example.test/"] }, "invalid_redirect_uri"],
    ["S5 script", { redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    ["a fragment", { redirect_uris: [`${REDIRECT}#here`] }, "invalid_redirect_uri"],
    ["redirect URIs that are not a list", { redirect_uris: REDIRECT }, "invalid_redirect_uri"],
    ["too many redirect URIs", { redirect_uris: Array.from({ length: 51 }, (_, at) => REDIRECT + at) }, "invalid_redirect_uri"],
    ["the code grant without a redirect URI", { redirect_uris: [], grant_types: ["authorization_code"] }, "invalid_redirect_uri"],
    ["S28 our own name", { client_name: "Кeyh00k" }, "invalid_client_metadata"],
    ["a name that is too long", { client_name: "x".repeat(61) }, "invalid_client_metadata"],
    ["a name that is not text", { client_name: 7 }, "invalid_client_metadata"],
    ["S51 a NUL byte", { client_name: "Qu\0ill" }, "invalid_client_metadata"],
    ["S51 half a surrogate pair", { software_id: "\ud800" }, "invalid_client_metadata"],
    ["an unknown way to authenticate", { token_endpoint_auth_method: "client_secret_jwt" }, "invalid_client_metadata"],
    ["only grants that are unknown here", { grant_types: ["client_credentials"] }, "invalid_client_metadata"],
    ["only responses that are unknown here", { response_types: ["token"] }, "invalid_client_metadata"],
    [
      "S72 a private key",
      { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "oct", k: "x" }] } },
      "invalid_client_metadata",
    ],
    ["S83 a website by plain http", { client_uri: "http://agent.example.test" }, "invalid_client_metadata"],
    ["contacts that are not a list", { contacts: "me" }, "invalid_client_metadata"],
    ["an ID token without a signature", { id_token_signed_response_alg: "none" }, "invalid_client_metadata"],
    ["a software statement", { software_statement: "e30.e30." }, "invalid_software_statement"],
  ])("%s", async (_, metadata, error) => {
    const before = await db().oAuthApp.count();
    const answer = await send({ ...publicAgent, ...metadata });
    const body = await answer.json();
    expect([answer.status, body.error]).toEqual([400, error]);
    expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await db().oAuthApp.count()).toBe(before);
  });

  test.each<[string, string | Uint8Array, Record<string, string>, number]>([
    ["a body that is not JSON", "client_name=Quill", {}, 400],
    ["a form", "client_name=Quill", { "content-type": "application/x-www-form-urlencoded" }, 400],
    ["an empty body", "", {}, 400],
    ["a list", "[]", {}, 400],
    ["a string", '"x"', {}, 400],
    ["null", "null", {}, 400],
    ["very deep nesting", `{"client_name":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, {}, 400],
    ["bytes that are not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), {}, 400],
    ["1 MB", JSON.stringify({ client_name: "x".repeat(1_000_000) }), {}, 413],
  ])("S51 %s", async (_, body, headers, status) => {
    const answer = await send(body, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty("error");
  });
});

describe("S87 a host that the operator has blocked", () => {
  const host = "blocked.example.test";
  beforeAll(async () => {
    await setHostRule(operatorCommand, { host, rule: "block" }, noOrigin);
    await setHostRule(operatorCommand, { host: `good.${host}`, rule: "allow" }, noOrigin);
  });
  afterAll(() => db().oAuthClientHost.deleteMany());

  test.each<[string, Record<string, unknown>, string]>([
    ["as a redirect URI", { redirect_uris: [REDIRECT, `https://${host}/cb`] }, "invalid_redirect_uri"],
    [
      "with a subdomain, a port and capitals",
      { redirect_uris: [`https://App.${host.toUpperCase()}:8443/`] },
      "invalid_redirect_uri",
    ],
    ["with a dot at its end", { redirect_uris: [`https://${host}./cb`] }, "invalid_redirect_uri"],
    ["as the homepage", { client_uri: `https://${host}/` }, "invalid_client_metadata"],
    ["for terms", { tos_uri: `https://${host}/terms` }, "invalid_client_metadata"],
    ["as a redirect URI after a sign-out", { post_logout_redirect_uris: [`https://${host}/bye`] }, "invalid_client_metadata"],
    ["for notices of sign-outs", { backchannel_logout_uri: `https://${host}/out` }, "invalid_client_metadata"],
    [
      "for its keys",
      { token_endpoint_auth_method: "private_key_jwt", jwks_uri: `https://${host}/keys` },
      "invalid_client_metadata",
    ],
  ])("is not registered: %s", async (_, changes, error) => {
    const answer = await send({ ...publicAgent, ...changes });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error, error_description: expect.stringContaining("does not allow apps of") });
  });

  test("cannot be added by a change", async () => {
    const registered = await register({
      redirect_uris: [`https://good.${host}/cb`, "http://127.0.0.1/cb", "com.example.quill:/cb"],
    });
    const own = { ...publicAgent, client_id: registered.client_id };
    expect((await manage(registered, "PUT", { ...own, redirect_uris: [`https://${host}/`] })).status).toBe(400);
    expect((await manage(registered, "PUT", own)).status).toBe(200);
  });
});

describe("RFC 7592 management", () => {
  test("a registration is read with its token, without secrets", async () => {
    const { client_secret, ...registered } = await register({ token_endpoint_auth_method: "client_secret_basic" });
    expect(client_secret).toBeTruthy();
    const answer = await manage(registered, "GET");
    expect([answer.status, await answer.json()]).toEqual([200, registered]);
  });

  test("any other token, client or URL gets one response, 401", async () => {
    const [registered, other] = [await register(), await register()];
    const { app } = await prepare(world);
    const uri = (id: string) => ({ ...registered, registration_client_uri: `${world.origin}${REGISTER}/${id}` });
    const answers = [
      await manage(registered, "GET", undefined, "nonsense"),
      await manage(registered, "GET", undefined, other.registration_access_token),
      await manage(uri("unknown"), "GET"),
      await manage(uri(app.clientId), "GET"),
      await manage(uri(other.client_id), "DELETE"),
      await manage(registered, "PUT", publicAgent, other.registration_access_token),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
      expect(await answer.json()).toMatchObject({ error: "invalid_token" });
    }
    const bare = await fetch(registered.registration_client_uri);
    expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await db().oAuthApp.count({ where: { clientId: other.client_id } })).toBe(1);
  });

  test("a change replaces everything and leads to a new question (S36)", async () => {
    const registered = await register({ software_id: "quill", contacts: ["me"] });
    const at = await visitor(registered);
    const code = await authorize(at, here);
    expect((await asApp(world, at.app, "/oauth/token", redemption(code, here))).status).toBe(200);
    const isAsked = async () =>
      (
        await at.browser.fetch(
          world.authorizeUrl(at.app, { ...here, code_challenge: "x".repeat(43), code_challenge_method: "S256" }),
        )
      ).headers
        .get("location")
        ?.includes("/interaction/");
    expect(await isAsked()).toBe(false);

    const answer = await manage(registered, "PUT", { ...publicAgent, client_id: registered.client_id, client_name: "Quill 2" });
    const changed = await answer.json();
    expect(answer.status).toBe(200);
    expect(changed).toMatchObject({ client_name: "Quill 2", client_id: registered.client_id });
    for (const name of ["software_id", "contacts"]) expect(changed).not.toHaveProperty(name);
    await expect.poll(isAsked).toBe(true);
  });

  test.each<[string, Record<string, unknown>, boolean]>([
    ["keeps the verified mark with another version", { software_version: "2" }, true],
    ["loses the mark with another name", { client_name: "Your bank" }, false],
    ["loses the mark with another homepage", { client_uri: "https://bank.example.test/" }, false],
    ["loses the mark with another redirect URI", { redirect_uris: [REDIRECT, "https://elsewhere.example.test/"] }, false],
  ])("%s (S28)", async (_, changes, isVerified) => {
    const registered = await register();
    const where = { clientId: registered.client_id as string };
    await db().oAuthApp.update({ where, data: { verifiedAt: new Date() } });
    expect((await manage(registered, "PUT", { ...publicAgent, client_id: where.clientId, ...changes })).status).toBe(200);
    expect((await db().oAuthApp.findUniqueOrThrow({ where })).verifiedAt !== null).toBe(isVerified);
    const { data } = await db().auditEvent.findFirstOrThrow({ where: { type: "oauth_app.update_registration", ...where } });
    expect(Object.keys(data as object).includes("verifiedAt")).toBe(!isVerified);
  });

  test("a removed redirect URI stops working at once", async () => {
    const registered = await register();
    const at = await visitor(registered);
    await authorize(at, here);
    const elsewhere = { ...publicAgent, client_id: registered.client_id, redirect_uris: ["https://elsewhere.example.test/"] };
    expect((await manage(registered, "PUT", elsewhere)).status).toBe(200);
    await expect.poll(async () => (await at.browser.fetch(world.authorizeUrl(at.app, here))).status).toBe(400);
  });

  test("the authentication method decides whether there is a secret", async () => {
    const registered = await register();
    const own = { ...publicAgent, client_id: registered.client_id };
    const put = async (metadata: Record<string, unknown>) => {
      const answer = await manage(registered, "PUT", { ...own, ...metadata });
      return { status: answer.status, body: await answer.json() };
    };
    const confidential = await put({ token_endpoint_auth_method: "client_secret_basic" });
    const { client_secret } = confidential.body;
    expect(client_secret).toMatch(/^kh_secret_/);
    const kept = await put({ token_endpoint_auth_method: "client_secret_basic", client_secret });
    expect(kept.body).not.toHaveProperty("client_secret");
    expect(await put({ token_endpoint_auth_method: "client_secret_basic", client_secret: "mine" })).toMatchObject({
      status: 400,
      body: { error: "invalid_client_metadata" },
    });
    expect((await put({ token_endpoint_auth_method: "none" })).body).not.toHaveProperty("client_secret");
    expect(await db().oAuthAppSecret.count({ where: { app: { clientId: registered.client_id } } })).toBe(0);
  });

  test("a body must name the client itself", async () => {
    const registered = await register();
    for (const client_id of [undefined, "another"]) {
      const answer = await manage(registered, "PUT", { ...publicAgent, client_id });
      expect([answer.status, (await answer.json()).error]).toEqual([400, "invalid_client_metadata"]);
    }
  });

  test("a deletion ends the app's tokens at once (S49)", async () => {
    const registered = await register();
    const at = await visitor(registered);
    const answer = await asApp(world, at.app, "/oauth/token", redemption(await authorize(at, here), here));
    const { access_token } = await answer.json();
    expect((await world.userinfo(access_token)).status).toBe(200);
    const deleted = await manage(registered, "DELETE");
    expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
    expect((await world.userinfo(access_token)).status).toBe(401);
    expect((await manage(registered, "GET")).status).toBe(401);
    expect(await db().auditEvent.count({ where: { type: "oauth_app.delete", clientId: registered.client_id } })).toBe(1);
  });

  test("an app that the operator blocked cannot manage itself", async () => {
    const registered = await register();
    await db().oAuthApp.update({ where: { clientId: registered.client_id }, data: { blockedAt: new Date() } });
    for (const method of ["GET", "DELETE"]) expect((await manage(registered, method)).status).toBe(403);
  });
});

describe("independent libraries", () => {
  test("openid-client registers and signs a user in", async () => {
    const config = await openid.dynamicClientRegistration(
      new URL(world.origin),
      { client_name: "Quill", redirect_uris: [REDIRECT] },
      undefined,
      {
        execute: [openid.allowInsecureRequests],
      },
    );
    const { client_id } = config.clientMetadata();
    const at = { ...(await prepare(world)), app: { id: "", clientId: client_id, secret: undefined } };
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const url = openid.buildAuthorizationUrl(config, {
      ...here,
      scope: "openid",
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
    });
    const callback = (await world.follow(at.browser, url.href, at.session)) as URL;
    const tokens = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier });
    expect(tokens.claims()).toMatchObject({ sub: at.person.id, aud: client_id });
  });

  test("S53 a page of another site may register, change and delete an app", async () => {
    for (const [path, method] of [
      [REGISTER, "POST"],
      [`${REGISTER}/some-client`, "PUT"],
      [`${REGISTER}/some-client`, "DELETE"],
    ] as const) {
      const preflight = await fetch(world.origin + path, {
        method: "OPTIONS",
        headers: { origin: "https://a-page.example", "access-control-request-method": method },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
      expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
      expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
    }
    const refused = await send("[]", { origin: "https://a-page.example" });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("the number of unused registrations is limited", () => {
  const ageBy = (registered: Body, days: number) =>
    pool().query("UPDATE oauth_app SET updated_at = now() - make_interval(days => $2) WHERE client_id = $1", [
      registered.client_id,
      days,
    ]);
  const remaining = async (...registered: Body[]) => {
    const found = await db().oAuthApp.findMany({ where: { clientId: { in: registered.map(({ client_id }) => client_id) } } });
    return registered.map(({ client_id }) => found.some(({ clientId }) => clientId === client_id));
  };
  const use = async (registered: Body) => authorize(await visitor(registered), here);

  test("housekeeping deletes an unused app after two weeks", async () => {
    const [unused, used, young] = [await register(), await register(), await register()];
    await use(used);
    const { app } = await prepare(world);
    const owned = { client_id: app.clientId };
    for (const each of [unused, used, owned]) await ageBy(each, 15);
    await ageBy(young, 13);
    await sweep(new AbortController().signal);
    expect(await remaining(unused, used, young, owned)).toEqual([false, true, true, true]);
  });

  test("above the limit the oldest unused apps are deleted, except those of the last hour", async () => {
    await pool().query("DELETE FROM oauth_app WHERE registration_token_hash IS NOT NULL");
    const [oldest, older, used, fresh] = [await register(), await register(), await register(), await register()];
    await use(used);
    await ageBy(used, 9);
    await ageBy(oldest, 3);
    await ageBy(older, 2);
    await makeRoom(4);
    expect(await remaining(oldest, older, used, fresh)).toEqual([true, true, true, true]);
    await makeRoom(3);
    expect(await remaining(oldest, older, used, fresh)).toEqual([false, true, true, true]);
    await makeRoom(1);
    expect(await remaining(oldest, older, used, fresh)).toEqual([false, false, true, true]);
  });
});

describe("S56 limits", () => {
  test("apply to an address, and the response names the seconds to wait", async () => {
    world.sendFrom("198.51.100.7");
    const limit = REGISTRATIONS_OF_ADDRESS.limit;
    const answers = await Promise.all(Array.from({ length: limit + 1 }, () => send("{}")));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBe(1);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(3_000);
    expect(await refused[0]?.json()).toMatchObject({ error: "temporarily_unavailable" });
    world.sendFrom("198.51.100.8");
    expect((await send(publicAgent)).status).toBe(201);
  });

  test("count an IPv6 address by its /48", async () => {
    world.sendFrom("2001:db8:56:1::1");
    expect((await send(publicAgent)).status).toBe(201);
    const key = throttleKey("registration", addressKey("2001:db8:56::", 48) ?? "");
    await pool().query("UPDATE throttle SET count = $1 WHERE key = $2", [REGISTRATIONS_OF_ADDRESS.limit, key]);
    world.sendFrom("2001:db8:56:2::1");
    expect((await send(publicAgent)).status).toBe(429);
    world.sendFrom("2001:db8:57::1");
    expect((await send(publicAgent)).status).toBe(201);
    world.sendFrom("127.0.0.1");
  });

  test("apply to all registrations together", async () => {
    world.sendFrom("198.51.100.9");
    expect((await send(publicAgent)).status).toBe(201);
    await pool().query("UPDATE throttle SET count = $1 WHERE key = $2", [
      REGISTRATIONS.limit,
      throttleKey("registration", "everybody"),
    ]);
    world.sendFrom("198.51.100.11");
    expect((await send(publicAgent)).status).toBe(429);
    world.sendFrom("127.0.0.1");
  });

  const count = (key: string, count: number) =>
    pool().query(
      `INSERT INTO throttle (key, count, reset_at) VALUES ($1, $2, now() + interval '1 hour') ON CONFLICT (key) DO UPDATE SET count = $2`,
      [key, count],
    );

  test("on repeated registrations of an address leave room for new addresses", async () => {
    await clearThrottle(throttleKey("registration", "everybody"));
    world.sendFrom("198.51.100.14");
    expect((await send(publicAgent)).status).toBe(201);
    expect((await send(publicAgent)).status).toBe(201);
    await count(throttleKey("registration", "again"), REGISTRATIONS_AGAIN.limit);
    expect((await send(publicAgent)).status).toBe(429);
    world.sendFrom("198.51.100.15");
    expect((await send('{"redirect_uris":[]')).status).toBe(400);
    await count(throttleKey("registration", "everybody"), REGISTRATIONS.limit);
    expect((await send(publicAgent)).status).toBe(429);
    await clearThrottle(throttleKey("registration", "everybody"));
    expect((await send(publicAgent)).status).toBe(201);
    expect((await send(publicAgent)).status).toBe(429);
    await clearThrottle(throttleKey("registration", "again"));
    world.sendFrom("127.0.0.1");
  });

  test("S144 on the audit log leave further changes unrecorded", async () => {
    const registered = await register();
    for (const who of ["everybody", "changes of everybody"]) await count(throttleKey("registration", who), REGISTRATIONS.limit);
    const change = async (client_name: string) => {
      const answer = await manage(registered, "PUT", { ...publicAgent, client_id: registered.client_id, client_name });
      const where = { type: "oauth_app.update_registration", clientId: registered.client_id as string };
      return [answer.status, await db().auditEvent.count({ where })];
    };
    expect(await change("Quill 2")).toEqual([200, 1]);
    await count(throttleKey("registration_change-all", ""), ENTRIES_IN_ALL.limit);
    expect(await change("Quill 3")).toEqual([200, 1]);
    await clearThrottle(throttleKey("registration", "everybody"), throttleKey("registration_change-all", ""));
  });

  test("on all registrations ignore invalid ones", async () => {
    const everybody = throttleKey("registration", "everybody");
    const count = async () => (await pool().query("SELECT count FROM throttle WHERE key = $1", [everybody])).rows[0]?.count ?? 0;
    await pool().query("DELETE FROM throttle WHERE key = $1", [everybody]);
    world.sendFrom("198.51.100.12");
    for (let each = 0; each < 5; each++) expect((await send('{"redirect_uris":[]')).status).toBe(400);
    expect(await count()).toBe(0);
    expect((await send(publicAgent)).status).toBe(201);
    expect(await count()).toBe(1);
    world.sendFrom("127.0.0.1");
  });

  test("S144 keep the entries of changes short", async () => {
    const registered = await register();
    const addresses = (round: number) =>
      Array.from({ length: 30 }, (_, at) => `https://agent.example.test/${round}/${at}/${"x".repeat(1_900)}`);
    const change = (round: number) =>
      manage(registered, "PUT", { ...publicAgent, client_id: registered.client_id, redirect_uris: addresses(round) });
    for (let round = 0; round < CHANGES_OF_APP.limit; round++) expect((await change(round)).status).toBe(200);
    const refused = await change(CHANGES_OF_APP.limit);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);

    const where = { type: "oauth_app.update_registration", clientId: registered.client_id as string };
    const entries = await db().auditEvent.findMany({ where, orderBy: { createdAt: "asc" } });
    expect(entries).toHaveLength(CHANGES_OF_APP.limit);
    for (const { data } of entries) expect(JSON.stringify(data).length).toBeLessThanOrEqual(DATA_MAX_BYTES);
    expect(entries[0]?.data).toMatchObject({
      redirectUris: { added: { length: 30 }, removed: [REDIRECT] },
    });
  });

  test("on an address count its changes together with its registrations", async () => {
    const registered = await register();
    world.sendFrom("198.51.100.13");
    await Promise.all(Array.from({ length: REGISTRATIONS_OF_ADDRESS.limit }, () => send("{}")));
    expect((await manage(registered, "PUT", { ...publicAgent, client_id: registered.client_id })).status).toBe(429);
    world.sendFrom("127.0.0.1");
  });

  test("apply to guesses of a registration access token", async () => {
    world.sendFrom("198.51.100.10");
    const address = { registration_client_uri: `${world.origin}${REGISTER}/some-client` };
    const guess = async () => (await manage(address, "GET", undefined, "guess")).status;
    const statuses: number[] = [];
    for (let round = 0; round < 7; round++) statuses.push(...(await Promise.all(Array.from({ length: 10 }, guess))));
    expect(statuses).toContain(429);
    expect(statuses[0]).toBe(401);
    world.sendFrom("127.0.0.1");
  });
});

test("S143 a limited number of proofs is remembered for a self-registered app with a secret", async () => {
  world.sendFrom("192.0.2.143");
  const registered = await register({ token_endpoint_auth_method: "client_secret_basic" });
  const key = await proofKey();
  const push = async () => {
    const dpop = await key.proof("POST", `${world.origin}/oauth/par`);
    const authorization = world.basic(registered.client_id, registered.client_secret);
    const form = Object.fromEntries(new URL(world.authorizeUrl(asTestApp(registered), { ...PKCE, ...here })).searchParams);
    return world.post("/oauth/par", form, { authorization, dpop });
  };
  expect((await push()).status).toBe(201);
  const counter = throttleKey("pushed-proof-client", `${addressKey("192.0.2.143", 48)} ${registered.client_id}`);
  const { count } = await db().throttle.findUniqueOrThrow({ where: { key: counter } });
  expect(count).toBe(1);
  await db().throttle.update({ where: { key: counter }, data: { count: ASSERTIONS_OF_CLIENT.limit } });
  expect((await push()).status).toBe(429);
  world.sendFrom("127.0.0.1");
});
