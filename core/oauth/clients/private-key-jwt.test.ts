import { KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { UnsecuredJWT } from "jose";
import * as client from "openid-client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { removeKeys, setKeys } from "../apps/app-keys.ts";
import { rememberedCounter } from "../artifacts/is-first-use.ts";
import { FAILURES_OF_CLIENT } from "../failure-throttle.ts";
import { ASSERTION_TYPE, type ClientKeyPair, clientKeyPair } from "../testing/assertion.ts";
import { PKCE } from "../testing/authorization.ts";
import { authorize, type Prepared, prepare, redemption, signIn } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { KEYS_BACKOFF_MS } from "./fetch-client-keys.ts";

const world = await startWorld();
provideSettings({ ORIGIN: world.origin, OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1/128" });
afterAll(() => world.stop());

const TOKEN = "/oauth/token";
const probe = { grant_type: "refresh_token", refresh_token: "kh_refresh_unknown", token: "kh_oauth_unknown" };
const PASSED = "400 invalid_grant";
const REFUSED = "401 invalid_client";

async function withKeys(alg?: string) {
  const at = await prepare(world, { isRefreshAllowed: true, isDeviceFlowAllowed: true });
  const pair = await clientKeyPair(alg);
  await setKeys(operatorCommand, at.app.id, { jwks: JSON.stringify({ keys: [pair.jwk] }), jwksUri: "" }, noOrigin);
  return { ...at, pair };
}

async function outcome(form: Record<string, string>, headers: Record<string, string> = {}, path = TOKEN) {
  const response = await world.post(path, { ...probe, ...form }, headers);
  return `${response.status} ${(await response.json()).error}`;
}

const config = (at: Prepared, pair: ClientKeyPair) =>
  client.discovery(
    new URL(world.origin),
    at.app.clientId,
    undefined,
    client.PrivateKeyJwt({ key: pair.privateKey as CryptoKey, kid: pair.kid }),
    {
      execute: [client.allowInsecureRequests],
    },
  );

describe("RFC 7523 as openid-client 6 does it", () => {
  test.each(["RS256", "PS256", "ES256", "Ed25519"])("%s pushes, redeems, refreshes, introspects and revokes", async (alg) => {
    const { pair, ...at } = await withKeys(alg);
    const site = await config(at, pair);
    expect(site.serverMetadata().token_endpoint_auth_signing_alg_values_supported).toContain(alg);
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = await client.buildAuthorizationUrlWithPAR(site, {
      redirect_uri: REDIRECT_URI,
      scope: "openid profile",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: "s",
    });
    const callback = (await world.follow(at.browser, url.href, at.session)) as URL;
    const tokens = await client.authorizationCodeGrant(site, callback, { pkceCodeVerifier, expectedState: "s" });
    const refreshed = await client.refreshTokenGrant(site, tokens.refresh_token ?? "");
    expect(await client.tokenIntrospection(site, refreshed.access_token)).toMatchObject({ active: true, sub: at.person.id });
    await client.tokenRevocation(site, refreshed.refresh_token ?? "");
    expect(await client.tokenIntrospection(site, refreshed.access_token)).toEqual({ active: false });
  });

  test("starts a device sign-in (RFC 8628 §3.1)", async () => {
    const { pair, ...at } = await withKeys();
    const started = await client.initiateDeviceAuthorization(await config(at, pair), { scope: "openid" });
    expect(started.user_code).toMatch(/^\w{4}-\w{4}$/);
  });

  test("discovery names the method for every endpoint that authenticates clients (RFC 8414 §2)", async () => {
    const metadata = (await world.discover()) as Record<string, unknown>;
    for (const endpoint of ["token", "introspection", "revocation"]) {
      expect(metadata[`${endpoint}_endpoint_auth_methods_supported`]).toContain("private_key_jwt");
      expect(metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual([
        "RS256",
        "PS256",
        "ES256",
        "Ed25519",
        "EdDSA",
      ]);
    }
  });
});

describe("RFC 7523 §3 the audience", () => {
  test("may be the issuer, the token endpoint, the called endpoint, or a list of these", async () => {
    const { pair, app } = await withKeys();
    const ours = [world.origin, world.origin + TOKEN];
    for (const aud of [...ours, ours]) expect(await outcome(await pair.assertion(app.clientId, aud))).toBe(PASSED);
    const atRevocation = await pair.assertion(app.clientId, `${world.origin}/oauth/revoke`);
    expect((await world.post("/oauth/revoke", { token: "x", ...atRevocation })).status).toBe(200);
  });

  test("must not name another server, which could replay the assertion", async () => {
    const { pair, app } = await withKeys();
    const foreign = [
      "https://evil.example",
      [world.origin, "https://evil.example"],
      `${world.origin}/`,
      [],
      undefined,
      { url: world.origin },
    ];
    for (const aud of foreign) expect(await outcome(await pair.assertion(app.clientId, aud))).toBe(REFUSED);
  });
});

describe("S73 an invalid assertion fails with 401 invalid_client:", () => {
  const now = () => Math.floor(Date.now() / 1000);
  test.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ["expired", { exp: now() - 30 }],
    ["without an expiry", { exp: undefined }],
    ["with an expiry that is not a number", { exp: "soon" }],
    ["that would live for a day", { exp: now() + 86_400 }],
    ["that would live forever", { exp: 1e300 }],
    ["not to be used yet", { nbf: now() + 300 }],
    ["without a jti", { jti: undefined }],
    ["with a jti that is not text", { jti: { a: 1 } }],
    ["without an issuer", { iss: undefined }],
    ["by another issuer", { iss: "somebody" }],
    ["for another subject", { sub: "somebody" }],
    ["without a subject", { sub: undefined }],
    ["with a subject that is not text", { sub: { toString: "x" } }],
    ["with a NUL in its subject", { sub: "a\0b" }],
    ["of an unknown key", {}, { kid: "another" }],
  ])("%s", async (_what, claims, header) => {
    const { pair, app } = await withKeys();
    expect(await outcome(await pair.assertion(app.clientId, world.origin, claims, header))).toBe(REFUSED);
  });

  test("signed with another key or a shared secret, or unsigned", async () => {
    const { pair, app } = await withKeys();
    const other = await clientKeyPair();
    expect(await outcome(await other.assertion(app.clientId, world.origin, {}, { kid: pair.kid }))).toBe(REFUSED);
    const claims = { iss: app.clientId, sub: app.clientId, aud: world.origin, jti: "x", exp: now() + 60 };
    const unsigned = new UnsecuredJWT(claims).encode();
    const hmac = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.${unsigned.split(".")[1]}.${"x".repeat(43)}`;
    for (const client_assertion of [unsigned, hmac, "x", "a.b.c", "..", `${unsigned}.${"x".repeat(30_000)}`]) {
      expect(await outcome({ client_assertion_type: ASSERTION_TYPE, client_assertion })).toBe(REFUSED);
    }
  });

  test.each(["payload", "header"])("with a deeply nested value in its %s, even with a correct signature (S51)", async (part) => {
    const { pair, app } = await withKeys();
    const claims = { iss: app.clientId, sub: app.clientId, aud: world.origin, jti: newId(), exp: now() + 60 };
    const deep = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
    const json = (value: object, isDeep: boolean) =>
      Buffer.from(isDeep ? `${JSON.stringify(value).slice(0, -1)},"deep":${deep}}` : JSON.stringify(value)).toString("base64url");
    const signed = `${json({ alg: pair.alg, kid: pair.kid }, part === "header")}.${json(claims, part === "payload")}`;
    const key = { key: KeyObject.from(pair.privateKey as CryptoKey), dsaEncoding: "ieee-p1363" } as const;
    const client_assertion = `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
    expect(await outcome({ client_assertion_type: ASSERTION_TYPE, client_assertion })).toBe(REFUSED);
  });

  test("from a client without keys or an unknown client, with the same text (S41)", async () => {
    const [{ pair }, secretive] = [await withKeys(), await prepare(world, { isConfidential: true })];
    const bodies = await Promise.all(
      [secretive.app.clientId, "nobody"].map(async (id) => {
        const response = await world.post(TOKEN, { ...probe, ...(await pair.assertion(id, world.origin)) });
        return [response.status, await response.text()];
      }),
    );
    expect(bodies[0]).toEqual(bodies[1]);
    expect(bodies[0]?.[0]).toBe(401);
  });

  test("S39 a request without an assertion fails for an app with keys", async () => {
    const { pair: _pair, ...at } = await withKeys();
    for (const path of [TOKEN, "/oauth/introspect", "/oauth/revoke", "/oauth/device", "/oauth/par"]) {
      expect(await outcome({ client_id: at.app.clientId }, {}, path)).toBe(REFUSED);
      expect(await outcome({}, { authorization: world.basic(at.app.clientId, "a secret") }, path)).toBe(REFUSED);
    }
    const byCode = await world.post(TOKEN, redemption(await authorize(at)));
    expect(byCode.status).toBe(401);
  });

  test("an assertion of a megabyte fails with 413 (S51)", async () => {
    const form = { client_assertion_type: ASSERTION_TYPE, client_assertion: "x".repeat(1024 * 1024) };
    expect((await world.post(TOKEN, form)).status).toBe(413);
    expect((await world.post(TOKEN, "client_assertion=a%00b")).status).toBe(400);
  });
});

describe("RFC 7523 §3 an assertion works once", () => {
  test("if it is used twenty times at the same moment", async () => {
    const { pair, app } = await withKeys();
    const assertion = await pair.assertion(app.clientId, world.origin);
    const paths = Array.from({ length: 20 }, (_, n) => (n % 2 ? TOKEN : "/oauth/revoke"));
    const statuses = await Promise.all(paths.map(async (path) => (await world.post(path, { ...probe, ...assertion })).status));
    expect(statuses.filter((status) => status !== 401)).toHaveLength(1);
  });

  test("for each of two clients that use the same jti", async () => {
    const [one, two] = [await withKeys(), await withKeys()];
    for (const { pair, app } of [one, two]) {
      expect(await outcome(await pair.assertion(app.clientId, world.origin, { jti: "1" }))).toBe(PASSED);
    }
  });
});

describe("S40 two authentication methods at once", () => {
  test("fail with 400 invalid_request", async () => {
    const { pair, app } = await withKeys();
    const assertion = () => pair.assertion(app.clientId, world.origin);
    expect(await outcome(await assertion(), { authorization: world.basic(app.clientId, "x") })).toBe("400 invalid_request");
    expect(await outcome(await assertion(), { authorization: world.basic(app.clientId, "") })).toBe("400 invalid_request");
    expect(await outcome({ ...(await assertion()), client_secret: "x" })).toBe("400 invalid_request");
  });

  test("a client_id beside the assertion must name the same client", async () => {
    const [{ pair, app }, other] = [await withKeys(), await prepare(world)];
    const assertion = await pair.assertion(app.clientId, world.origin);
    expect(await outcome({ ...assertion, client_id: other.app.clientId })).toBe("400 invalid_request");
    expect(await outcome({ client_assertion: assertion.client_assertion })).toBe("400 invalid_request");
    expect(await outcome({ ...assertion, client_assertion_type: "urn:x" })).toBe("400 invalid_request");
    expect(await outcome({ ...assertion, client_id: app.clientId })).toBe(PASSED);
  });
});

test("S56 invalid assertions count only for the client that they name", async () => {
  world.sendFrom("192.0.2.88");
  const [{ pair, app }, other] = [await withKeys(), await withKeys()];
  const wrong = async () => outcome(await pair.assertion(app.clientId, "https://evil.example"));
  await Promise.all(Array.from({ length: FAILURES_OF_CLIENT }, wrong));
  expect(await outcome(await pair.assertion(app.clientId, world.origin))).toBe("429 temporarily_unavailable");
  expect(await outcome(await other.pair.assertion(other.app.clientId, world.origin))).toBe(PASSED);
  world.sendFrom("127.0.0.1");
});

describe("S52 a change between keys and secrets takes effect at once", () => {
  test("new keys end the secret, and removing the keys makes the app public", async () => {
    const at = await signIn(world, { isConfidential: true, isRefreshAllowed: true });
    const pair = await clientKeyPair();
    const bySecret = () => outcome({}, { authorization: world.basic(at.app.clientId, at.app.secret ?? "") });
    const byKey = async () => outcome(await pair.assertion(at.app.clientId, world.origin));
    const byName = () => outcome({ client_id: at.app.clientId });
    const all = async () => [await bySecret(), await byKey(), await byName()];
    expect(await all()).toEqual([PASSED, REFUSED, REFUSED]);
    await setKeys(operatorCommand, at.app.id, { jwks: JSON.stringify(pair.jwk), jwksUri: "" }, noOrigin);
    await expect.poll(all).toEqual([REFUSED, PASSED, REFUSED]);
    await removeKeys(operatorCommand, at.app.id, noOrigin);
    await expect.poll(all).toEqual([REFUSED, REFUSED, PASSED]);
  });
});

describe("a jwks_uri", () => {
  let server: Server;
  let body: string;
  let asked = 0;
  let status = 200;
  let headers: Record<string, string> = {};
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys/${newId()}`;
  beforeAll(async () => {
    server = createServer((_req, res) => {
      asked += 1;
      res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  });
  afterAll(() => server.close());

  async function withAddress(...pairs: ClientKeyPair[]) {
    body = JSON.stringify({ keys: pairs.map(({ jwk }) => jwk) });
    const at = await prepare(world);
    await setKeys(operatorCommand, at.app.id, { jwks: "", jwksUri: address() }, noOrigin);
    return at;
  }

  afterEach(() => {
    status = 200;
    headers = {};
  });

  const aDayLater = (work: () => Promise<void>) => later(86_400_000, work);

  async function later(byMs: number, work: () => Promise<void>) {
    const now = Date.now;
    Date.now = () => now() + byMs;
    await work().finally(() => {
      Date.now = now;
    });
  }

  test("is fetched when it is needed, and again for an unknown key", async () => {
    const [first, second] = [await clientKeyPair(), await clientKeyPair("RS256")];
    const { app } = await withAddress(first);
    expect(await outcome(await first.assertion(app.clientId, world.origin))).toBe(PASSED);
    const before = asked;
    for (let n = 0; n < 5; n++) expect(await outcome(await first.assertion(app.clientId, world.origin))).toBe(PASSED);
    expect(asked).toBe(before);
    body = JSON.stringify({ keys: [second.jwk] });
    await aDayLater(async () => {
      expect(await outcome(await second.assertion(app.clientId, world.origin))).toBe(PASSED);
    });
  });

  test("no longer makes a removed key valid, even if its server allows caching", async () => {
    headers = { "Cache-Control": "max-age=31536000" };
    const [stolen, next] = [await clientKeyPair(), await clientKeyPair()];
    const { app } = await withAddress(stolen, next);
    expect(await outcome(await stolen.assertion(app.clientId, world.origin))).toBe(PASSED);
    body = JSON.stringify({ keys: [next.jwk] });
    headers = {};
    await aDayLater(async () => {
      expect(await outcome(await stolen.assertion(app.clientId, world.origin))).toBe(REFUSED);
      expect(await outcome(await next.assertion(app.clientId, world.origin))).toBe(PASSED);
    });
  });

  test.each<[string, number, string]>([
    ["an error", 404, "{}"],
    ["an error with the keys in it", 500, "as it was"],
    ["a body that is not a key set", 200, '{"keys":7}'],
  ])("S73 that answers with %s makes no key valid", async (_what, answered, page) => {
    const stolen = await clientKeyPair();
    const { app } = await withAddress(stolen);
    expect(await outcome(await stolen.assertion(app.clientId, world.origin))).toBe(PASSED);
    status = answered;
    headers = { "Cache-Control": "max-age=31536000" };
    if (page !== "as it was") body = page;
    await aDayLater(async () => {
      const unknown = await stolen.assertion(app.clientId, world.origin, {}, { kid: "another" });
      expect(await outcome(unknown)).toBe(REFUSED);
      for (let n = 0; n < 2; n++) expect(await outcome(await stolen.assertion(app.clientId, world.origin))).toBe(REFUSED);
    });
  });

  test("S80 that fails is fetched again after a short pause, even if the error page allows caching", async () => {
    const pair = await clientKeyPair();
    const { app } = await withAddress(pair);
    status = 404;
    headers = { "Cache-Control": "max-age=31536000" };
    const before = asked;
    await later(2 * KEYS_BACKOFF_MS, async () => {
      for (let n = 0; n < 3; n++) expect(await outcome(await pair.assertion(app.clientId, world.origin))).toBe(REFUSED);
    });
    expect(asked).toBe(before + 1);
    status = 200;
    await later(3 * KEYS_BACKOFF_MS + 1_000, async () => {
      expect(await outcome(await pair.assertion(app.clientId, world.origin))).toBe(PASSED);
    });
  });

  test("without a valid key set causes a 401 response", async () => {
    const pair = await clientKeyPair();
    const { app } = await withAddress(pair);
    for (const broken of ["", "no JSON", "[]", '{"keys":[{"kty":"oct","k":"AA"}]}', '{"keys":7}']) {
      body = broken;
      expect(await outcome(await pair.assertion(app.clientId, world.origin))).toBe(REFUSED);
    }
  });

  test("S137 is used up to its twentieth key", async () => {
    const [pair, ...others] = await Promise.all(Array.from({ length: 21 }, () => clientKeyPair()));
    const { app } = await withAddress(pair as ClientKeyPair);
    const answer = async () => outcome(await (pair as ClientKeyPair).assertion(app.clientId, world.origin));
    body = JSON.stringify({ keys: [...others.slice(1), pair].map((each) => each?.jwk) });
    expect(await answer()).toBe(PASSED);
    body = JSON.stringify({ keys: [...others, pair].map((each) => each?.jwk) });
    await aDayLater(async () => expect(await answer()).toBe(REFUSED));
  });

  test("S137 is used without keys that are slow to verify with", async () => {
    const [quick, slow] = [await clientKeyPair("RS256"), await clientKeyPair("RS256", 4_104)];
    const { app } = await withAddress(quick);
    body = JSON.stringify({ keys: [slow.jwk, quick.jwk] });
    expect(await outcome(await slow.assertion(app.clientId, world.origin))).toBe(REFUSED);
    expect(await outcome(await quick.assertion(app.clientId, world.origin))).toBe(PASSED);
  });

  test("S77 on the service's own network is fetched only if the operator allows it", async () => {
    const pair = await clientKeyPair();
    const { app } = await withAddress(pair);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    const before = asked;
    expect(await outcome(await pair.assertion(app.clientId, world.origin))).toBe(REFUSED);
    expect(asked).toBe(before);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,::1/128" });
  });
});

test("S143 a limited number of assertions is remembered for all apps of an account together", async () => {
  const { pair, app, person } = await withKeys();
  const [key, { limit }] = rememberedCounter(person.id);
  const data = { count: limit - 1, resetAt: new Date(Date.now() + 60_000) };
  await db().throttle.upsert({ where: { key }, create: { key, ...data }, update: data });
  const next = async () => outcome(await pair.assertion(app.clientId, world.origin));
  expect([await next(), await next()]).toEqual([PASSED, "429 temporarily_unavailable"]);
});

test("only a hash of an assertion is stored (S55)", async () => {
  const { pair, app } = await withKeys();
  await outcome(await pair.assertion(app.clientId, world.origin, { jti: "a jti to look for" }));
  const { rows } = await pool().query("SELECT * FROM oauth_artifact WHERE model = 'ReplayDetection'");
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain("a jti to look for");
});

test("RFC 9126 §2 a pushed request is stored without its assertion", async () => {
  const { pair, ...at } = await withKeys();
  const form = Object.fromEntries(new URL(world.authorizeUrl(at.app, PKCE)).searchParams);
  const response = await world.post("/oauth/par", {
    ...form,
    ...(await pair.assertion(at.app.clientId, `${world.origin}/oauth/par`)),
  });
  expect(response.status).toBe(201);
  const { rows } = await pool().query("SELECT payload FROM oauth_artifact WHERE model = 'PushedAuthorizationRequest'");
  const kept = rows.map(({ payload }) => Buffer.from(payload.request.split(".")[1], "base64url").toString()).join();
  expect(kept).not.toContain("client_assertion");
});
