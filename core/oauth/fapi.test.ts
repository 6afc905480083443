import { randomUUID } from "node:crypto";
import { decodeProtectedHeader, exportJWK, importJWK, SignJWT, UnsecuredJWT } from "jose";
import * as client from "openid-client";
import { afterAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { setKeys } from "./apps/app-keys.ts";
import { updateApp } from "./apps/update-app.ts";
import { DEVICE_CODE_GRANT } from "./grant-types.ts";
import { CLOCK_TOLERANCE_SECONDS, PROOF_AHEAD_SECONDS } from "./lifetimes.ts";
import { ASSERTION_TYPE, clientKeyPair } from "./testing/assertion.ts";
import { ask, claimsOf, PKCE } from "./testing/authorization.ts";
import { proofKey } from "./testing/dpop.ts";
import { prepare, redemption } from "./testing/sign-in.ts";
import { type Answer, REDIRECT_URI, startWorld } from "./testing/world.ts";

/** These tests follow the published modules of the OpenID Foundation's FAPI 2.0 test plan (docs/decisions/094). */
const world = await startWorld();
afterAll(() => world.stop());

const TOKEN = "/oauth/token";
const PAR = "/oauth/par";
const USERINFO = "/oauth/userinfo";
const WITH_QUERY = `${REDIRECT_URI}?dummy1=lorem&dummy2=ipsum`;
const now = () => Math.floor(Date.now() / 1000);

const change = (appId: string, settings: Parameters<typeof updateApp>[2]) =>
  updateApp(operatorCommand, appId, settings, noOrigin);

type Site = Awaited<ReturnType<typeof site>>;

async function site(alg = "ES256") {
  const at = await prepare(world, { isRefreshAllowed: true, redirectUris: [REDIRECT_URI, WITH_QUERY] });
  const pair = await clientKeyPair(alg);
  await setKeys(operatorCommand, at.app.id, { jwks: JSON.stringify({ keys: [pair.jwk] }), jwksUri: "" }, noOrigin);
  await change(at.app.id, { securityProfile: "fapi2" });
  return { ...at, pair, key: await proofKey() };
}

type Assertion = { aud?: unknown; claims?: Record<string, unknown>; header?: Record<string, unknown> };

const proven = ({ pair, app }: Pick<Site, "pair" | "app">, { aud = world.origin, claims, header }: Assertion = {}) =>
  pair.assertion(app.clientId, aud, claims, header);

const parameters = {
  response_type: "code",
  redirect_uri: REDIRECT_URI,
  scope: "openid profile offline_access",
  state: "a state",
  ...PKCE,
};

async function answerOf(response: Promise<Response>) {
  const { status, headers } = await response;
  return { status, headers, body: await (await response).json() };
}

type Changed = Record<string, string | undefined>;

async function push(at: Site, changed: Changed = {}, credentials?: Record<string, string>, headers?: Record<string, string>) {
  const all = Object.entries({ client_id: at.app.clientId, ...parameters, ...changed }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return answerOf(world.post(PAR, { ...Object.fromEntries(all), ...(credentials ?? (await proven(at))) }, headers));
}

async function arrive(at: Site, changed: Changed = {}, beside: Record<string, string> = {}, answer: Answer = {}) {
  const verifier = client.randomPKCECodeVerifier();
  const { body } = await push(at, { ...changed, code_challenge: await client.calculatePKCECodeChallenge(verifier) });
  const query = new URLSearchParams({ client_id: at.app.clientId, request_uri: body.request_uri, ...beside });
  const landed = await world.follow(at.browser, `/oauth/authorize?${query}`, at.session, answer);
  if (!(landed instanceof URL)) throw new Error(`${JSON.stringify(body)} ${await landed.text()}`);
  const answered: Record<string, string> = Object.fromEntries(landed.searchParams);
  return { answered, code: answered.code ?? "", verifier };
}

const codeOf = (at: Site, changed: Changed = {}) => arrive(at, changed);

async function token(at: Site, form: Record<string, string>, dpop: string | null = null, credentials?: Record<string, string>) {
  const proof = dpop ?? (await at.key.proof("POST", world.origin + TOKEN));
  return answerOf(world.post(TOKEN, { ...form, ...(credentials ?? (await proven(at))) }, proof ? { dpop: proof } : {}));
}

const readUserinfo = (accessToken: string, dpop: string, scheme = "DPoP") =>
  fetch(world.origin + USERINFO, { headers: { authorization: `${scheme} ${accessToken}`, dpop } });

const userinfo = async (at: Site, accessToken: string, key = at.key) =>
  readUserinfo(accessToken, await key.proof("GET", world.origin + USERINFO, accessToken));

describe("a site with openid-client 6, private_key_jwt and DPoP", () => {
  test.each(["ES256", "PS256", "Ed25519"])("%s pushes, signs in, reads, refreshes and revokes", async (alg) => {
    const at = await site(alg);
    const authentication = client.PrivateKeyJwt({ key: at.pair.privateKey as CryptoKey, kid: at.pair.kid });
    const config = await client.discovery(
      new URL(world.origin),
      at.app.clientId,
      { id_token_signed_response_alg: "ES256" },
      authentication,
      {
        execute: [client.allowInsecureRequests],
      },
    );
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [client.randomState(), "n".repeat(64)];
    const request = {
      redirect_uri: REDIRECT_URI,
      scope: "profile offline_access openid",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: expectedState,
      nonce: expectedNonce,
    };
    const url = await client.buildAuthorizationUrlWithPAR(config, request, { DPoP });
    const callback = (await world.follow(at.browser, url.href, at.session)) as URL;
    expect(callback.searchParams.get("iss")).toBe(world.origin);

    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    const tokens = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
    expect(tokens.token_type).toBe("dpop");
    expect(decodeProtectedHeader(tokens.id_token ?? "").alg).toBe("ES256");
    expect(await client.fetchUserInfo(config, tokens.access_token, at.person.id, { DPoP })).toMatchObject({ sub: at.person.id });

    const first = await client.refreshTokenGrant(config, tokens.refresh_token ?? "", undefined, { DPoP });
    const second = await client.refreshTokenGrant(config, tokens.refresh_token ?? "", undefined, { DPoP });
    for (const { refresh_token } of [first, second]) expect(refresh_token).toBe(tokens.refresh_token);
    await client.fetchUserInfo(config, second.access_token, at.person.id, { DPoP });

    await client.tokenRevocation(config, tokens.refresh_token ?? "");
    await expect(client.fetchUserInfo(config, second.access_token, at.person.id, { DPoP })).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe("S146 §5.3.2.1 client assertions", () => {
  test("have the issuer, as a string, as their only audience", async () => {
    const at = await site();
    for (const aud of [[world.origin], world.origin + TOKEN, world.origin + PAR, `${world.origin}/`, "https://evil.example"]) {
      const refused = await push(at, {}, await proven(at, { aud }));
      expect([refused.status, refused.body.error]).toEqual([401, "invalid_client"]);
    }
    expect(await push(at)).toMatchObject({ status: 201, body: { expires_in: 60 } });
  });

  test.each<[string, () => Assertion]>([
    ["issued half a minute in the future", () => ({ claims: { iat: now() + 30 } })],
    ["valid only from half a minute in the future", () => ({ claims: { nbf: now() + 30 } })],
    ["that ended five minutes ago", () => ({ claims: { exp: now() - 300 } })],
    ["without a subject", () => ({ claims: { sub: undefined } })],
  ])("%s are refused, at both endpoints", async (_what, spoiled) => {
    const at = await site();
    const pushed = await push(at, {}, await proven(at, spoiled()));
    expect([pushed.status, pushed.body.error]).toEqual([401, "invalid_client"]);
    const form = {
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: at.app.clientId,
      ...(await proven(at, spoiled())),
    };
    expect((await answerOf(world.post(TOKEN, form))).body.error).toBe("invalid_client");
  });

  test("whose clock is ten seconds ahead are accepted", async () => {
    const ahead = { iat: now() + CLOCK_TOLERANCE_SECONDS, nbf: now() + CLOCK_TOLERANCE_SECONDS };
    const at = await site();
    expect((await push(at, {}, await proven(at, { claims: ahead }))).status).toBe(201);
  });

  test("§5.4.1 are signed with PS256, ES256 or EdDSA", async () => {
    const at = await site("PS256");
    const unsigned = { iss: at.app.clientId, sub: at.app.clientId, aud: world.origin, jti: "x", iat: now(), exp: now() + 60 };
    for (const client_assertion of [await signedWithRs256(at), new UnsecuredJWT(unsigned).encode()]) {
      const refused = await push(at, {}, { client_assertion_type: ASSERTION_TYPE, client_assertion });
      expect([refused.status, refused.body.error]).toEqual([401, "invalid_client"]);
    }
    expect((await push(at)).status).toBe(201);
    await change(at.app.id, { securityProfile: "standard" });
    const client_assertion = await signedWithRs256(at);
    await expect
      .poll(async () => (await push(at, {}, { client_assertion_type: ASSERTION_TYPE, client_assertion })).status)
      .toBe(201);
  });

  test("that are refused at the token endpoint do not consume the code", async () => {
    const [at, other] = [await site("PS256"), await site()];
    const code = redemption(await codeOf(at));
    for (const credentials of [
      await proven(at, { aud: "https://evil.example" }),
      await proven(at, { aud: [world.origin, "https://evil.example"] }),
      { client_assertion_type: ASSERTION_TYPE, client_assertion: await signedWithRs256(at) },
      { client_id: at.app.clientId },
      await proven({ app: at.app, pair: other.pair }),
    ]) {
      const refused = await token(at, code, null, credentials);
      expect([credentials, refused.status, refused.body.error]).toEqual([credentials, 401, "invalid_client"]);
    }
    expect((await token(at, code)).status).toBe(200);
  });
});

/** WebCrypto binds a key to one algorithm. */
async function signedWithRs256({ pair, app: { clientId } }: Site): Promise<string> {
  const key = await importJWK({ ...(await exportJWK(pair.privateKey)), alg: "RS256" }, "RS256");
  const claims = { iss: clientId, sub: clientId, aud: world.origin, jti: randomUUID(), iat: now(), exp: now() + 60 };
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: pair.kid }).sign(key);
}

describe("§5.3.2.2 authorization requests", () => {
  test("that were not pushed are refused", async () => {
    const at = await site();
    expect((await ask(at)).answer).toMatchObject({
      ...{ error: "invalid_request", state: "a state", iss: world.origin },
      error_description: expect.stringMatching(/Pushed/),
    });
  });

  test("are not pushed without authentication", async () => {
    const at = await site();
    const refused = await push(at, {}, {});
    expect([refused.status, refused.body.error]).toEqual([401, "invalid_client"]);
    expect((await fetch(world.origin + PAR, { method: "PUT" })).status).toBe(405);
  });

  test.each<[string, Record<string, string | undefined>, string]>([
    ["without PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["with plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["without a redirect URI", { redirect_uri: undefined }, "invalid_request"],
    ["with a redirect URI that is not registered", { redirect_uri: "https://evil.example/cb" }, "invalid_request"],
    ["for a token", { response_type: "token" }, "unsupported_response_type"],
    ["for a code and an ID token", { response_type: "code id_token" }, "unsupported_response_type"],
    ["with a request_uri", { request_uri: "urn:ietf:params:oauth:request_uri:x" }, "request_uri_not_supported"],
  ])("%s are refused when they are pushed", async (_what, changed, error) => {
    const refused = await push(await site(), changed);
    expect([refused.status, refused.body.error]).toEqual([400, error]);
  });

  test("without state, or with a state of a thousand characters, are answered with 303 and the issuer", async () => {
    const at = await site();
    for (const state of [undefined, "s".repeat(1_000)]) {
      const { body } = await push(at, { state });
      const request = { client_id: at.app.clientId, request_uri: body.request_uri };
      let outcome = await ask(at, Object.entries(request));
      if (outcome.isQuestion) {
        const landed = (await world.follow(at.browser, `/oauth/authorize?${new URLSearchParams(request)}`, at.session)) as URL;
        expect(landed.searchParams.get("state") ?? undefined).toBe(state);
        const again = await push(at, { state });
        outcome = await ask(at, Object.entries({ ...request, request_uri: again.body.request_uri }));
      }
      expect(outcome.status).toBe(303);
      expect(outcome.answer).toEqual({ code: expect.any(String), iss: world.origin, ...(state && { state }) });
    }
  });

  test("use only the pushed parameters", async () => {
    const at = await site();
    const inside = { state: "-._~".repeat(32), nonce: "n".repeat(384) };
    for (const { state, nonce } of [inside, { state: undefined, nonce: undefined }]) {
      const landed = await arrive(at, { state, nonce }, { state: "outside", nonce: "outside", scope: "email" });
      expect(landed.answered.state).toBe(state);
      const { body } = await token(at, redemption(landed));
      expect(claimsOf(body.id_token).nonce).toBe(nonce);
    }
  });

  test("that the user denies are answered with state and issuer", async () => {
    const { answered } = await arrive(await site(), { redirect_uri: WITH_QUERY }, {}, { decision: "deny" });
    const own = { dummy1: "lorem", dummy2: "ipsum" };
    expect(answered).toMatchObject({ ...own, error: "access_denied", state: "a state", iss: world.origin });
  });

  test("may be opened again until they are answered", async () => {
    const prepared = await site();
    const at = { ...prepared, browser: world.browser() };
    const request = { client_id: at.app.clientId, request_uri: (await push(at)).body.request_uri };
    const visit = () => ask(at, Object.entries(request));
    for (let n = 0; n < 2; n++) expect((await visit()).isQuestion).toBe(true);
    const session = await world.signIn(at.browser, at.person);
    const landed = await world.follow(at.browser, `/oauth/authorize?${new URLSearchParams(request)}`, session);
    expect(landed).toBeInstanceOf(URL);
    const { status, location, page } = await visit();
    expect([status, location]).toEqual([400, undefined]);
    expect(page).toContain("invalid_request_uri");
  });

  test("are refused with a request_uri of another client", async () => {
    const [at, other] = [await site(), await site()];
    const { body } = await push(at);
    const outcome = await ask(other, Object.entries({ client_id: other.app.clientId, request_uri: body.request_uri }));
    expect([outcome.status, outcome.location]).toEqual([400, undefined]);
  });
});

describe("the token endpoint", () => {
  test("gives no token without a proof", async () => {
    const at = await site();
    const code = redemption(await codeOf(at));
    const without = await token(at, code, "");
    expect([without.status, without.body.error]).toEqual([400, "invalid_request"]);
    const { body } = await token(at, code);
    const refresh = await token(at, { grant_type: "refresh_token", refresh_token: body.refresh_token }, "");
    expect([refresh.status, refresh.body.error]).toEqual([400, "invalid_request"]);
  });

  test("ends the tokens of a code at its second use", async () => {
    const at = await site();
    const code = redemption(await codeOf(at));
    const { body } = await token(at, code);
    expect((await userinfo(at, body.access_token)).status).toBe(200);
    const again = await token(at, code);
    expect([again.status, again.body.error]).toEqual([400, "invalid_grant"]);
    expect((await userinfo(at, body.access_token)).status).toBe(401);
  });

  test("redeems a code only for its client, with its verifier and its key", async () => {
    const [at, other] = [await site(), await site()];
    const foreign = await token(other, redemption(await codeOf(at)));
    const { code } = await codeOf(at);
    const unverified = await token(at, redemption({ code, verifier: client.randomPKCECodeVerifier() }));
    const bare = await token(at, { grant_type: "authorization_code", code: (await codeOf(at)).code, redirect_uri: REDIRECT_URI });
    const bound = await token(at, redemption(await codeOf(at, { dpop_jkt: (await proofKey()).thumbprint })));
    for (const { status, body } of [foreign, unverified, bare, bound])
      expect([status, body.error]).toEqual([400, "invalid_grant"]);
    expect((await token(at, redemption(await codeOf(at, { dpop_jkt: at.key.thumbprint })))).status).toBe(200);
  });

  test("refreshes a token only for its client, which may use a new key", async () => {
    const [at, other] = [await site(), await site()];
    const { body } = await token(at, redemption(await codeOf(at, { max_age: "3600" })));
    const form = { grant_type: "refresh_token", refresh_token: body.refresh_token };
    expect((await token(other, form)).body.error).toBe("invalid_grant");
    const key = await proofKey();
    const proof = () => key.proof("POST", world.origin + TOKEN);
    const bare = await token(at, form, await proof(), { client_id: at.app.clientId });
    expect([bare.status, bare.body.error]).toEqual([401, "invalid_client"]);
    const refreshed = await token(at, { ...form, scope: "openid profile" }, await proof());
    expect(refreshed).toMatchObject({ status: 200, body: { token_type: "DPoP", refresh_token: body.refresh_token } });
    expect(refreshed.headers.get("cache-control")).toBe("no-store");
    expect(decodeProtectedHeader(refreshed.body.id_token).alg).toBe("ES256");
    const { iss, sub, aud, auth_time } = claimsOf(body.id_token);
    expect(auth_time).toEqual(expect.any(Number));
    expect(claimsOf(refreshed.body.id_token)).toMatchObject({ iss, sub, aud, auth_time });
    expect((await userinfo(at, refreshed.body.access_token, key)).status).toBe(200);
    expect((await userinfo(at, refreshed.body.access_token)).status).toBe(401);
  });

  test("accepts no other grant", async () => {
    const at = await site();
    const refused = await token(at, { grant_type: DEVICE_CODE_GRANT, device_code: "x" });
    expect([refused.status, refused.body.error]).toEqual([400, "unauthorized_client"]);
  });

  test("accepts proofs from up to a minute ahead, and refuses proofs with RSA", async () => {
    const at = await site();
    const code = redemption(await codeOf(at));
    const ahead = (seconds: number) =>
      at.key.proof("POST", world.origin + TOKEN, undefined, { claims: { iat: now() + seconds } });
    const rsa = await (await proofKey("RS256")).proof("POST", world.origin + TOKEN);
    for (const proof of [await ahead(PROOF_AHEAD_SECONDS * 2), rsa]) {
      const refused = await token(at, code, proof);
      expect([refused.status, refused.body.error]).toEqual([400, "invalid_dpop_proof"]);
    }
    expect((await token(at, code, await ahead(PROOF_AHEAD_SECONDS))).status).toBe(200);
  });
});

test("§5.3.4 a token is accepted only in the header, with its proof", async () => {
  const at = await site();
  const { body } = await token(at, redemption(await codeOf(at)));
  expect((await world.userinfo(body.access_token)).status).toBe(401);
  const dpop = await at.key.proof("GET", world.origin + USERINFO, body.access_token);
  const inQuery = await fetch(`${world.origin}${USERINFO}?access_token=${body.access_token}`, { headers: { dpop } });
  expect(inQuery.status).toBe(400);
  expect((await userinfo(at, body.access_token)).status).toBe(200);
});

test("userinfo and pushed requests accept valid variants of proofs", async () => {
  const at = await site();
  const { access_token } = (await token(at, redemption(await codeOf(at)))).body;
  const url = world.origin + USERINFO;
  const proof = (claims: Record<string, unknown> = {}) => at.key.proof("GET", url, access_token, { claims });
  const good = [
    await proof({ nbf: now(), exp: now() + 300 }),
    await proof({ iat: now() - 10 }),
    await proof({ iat: now() + 8 }),
    await proof({ unknown: { claim: 1 } }),
    await proof({ htu: `${url.replace("http://localhost", "HTTP://LOCALHOST")}?x=1#y` }),
  ];
  expect((await readUserinfo(access_token, await proof(), "dpOp")).status).toBe(200);
  for (const dpop of good) expect([dpop, (await readUserinfo(access_token, dpop)).status]).toEqual([dpop, 200]);

  const [, payload, signature] = (await proof()).split(".");
  const withHeader = (header: object) =>
    [Buffer.from(JSON.stringify({ typ: "dpop+jwt", jwk: at.key.jwk, ...header })).toString("base64url"), payload].join(".");
  const bad = [
    `${withHeader({ alg: "none" })}.`,
    `${withHeader({})}.${signature}`,
    await proof({ htm: "POST" }),
    await proof({ htu: `${url}x` }),
    await proof({ iat: now() - 3_600 }),
    await proof({ iat: now() + 3_600 }),
  ];
  for (const dpop of bad) {
    const { status, headers } = await readUserinfo(access_token, dpop);
    expect([dpop, status, headers.get("www-authenticate")]).toEqual([dpop, 401, expect.stringContaining("invalid_dpop_proof")]);
  }
  for (const seconds of [-10, 8]) {
    const dpop = await at.key.proof("POST", world.origin + PAR, undefined, { claims: { iat: now() + seconds } });
    expect((await push(at, {}, undefined, { dpop })).status).toBe(201);
  }
});

test("discovery names ES256 for proofs", async () => {
  expect((await world.discover()).dpop_signing_alg_values_supported).toContain("ES256");
});
