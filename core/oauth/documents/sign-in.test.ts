import { generateKeyPair } from "node:crypto";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import * as client from "openid-client";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { throttleKey } from "#core/accounts/throttle.ts";
import { db } from "#core/db.ts";
import { flushUsage } from "../apps/count-usage.ts";
import { ASSERTIONS_OF_ADDRESS, ASSERTIONS_OF_CLIENT } from "../authorization/prepare-authorization.ts";
import { clientKeyPair } from "../testing/assertion.ts";
import { ask, openInteraction, openQuestion } from "../testing/authorization.ts";
import { authorize } from "../testing/sign-in.ts";
import { asked, signInAtSite, type Visit, visitSite } from "../testing/site-visit.ts";
import { startWorld } from "../testing/world.ts";
import { forgetFetches } from "./within-fetch-limits.ts";

const visits: Visit[] = [];
const world = await startWorld();
beforeEach(forgetFetches);
afterAll(async () => {
  await world.stop();
  for (const { site } of visits) await site.stop();
});

async function visit(changes: Record<string, unknown> = {}): Promise<Visit> {
  const made = await visitSite(world, changes);
  visits.push(made);
  return made;
}

// The version that HuggingChat uses.
const openidClient5 = (): OpenidClient5 => createRequire(createRequire(import.meta.url).resolve("next-auth"))("openid-client");

type OpenidClient5 = {
  generators: { codeVerifier(): string; codeChallenge(verifier: string): string };
  Issuer: { discover(url: string): Promise<{ Client: new (metadata: object) => Client5 }> };
};
type Client5 = {
  authorizationUrl(parameters: object): string;
  callbackParams(url: string): object;
  callback(redirectUri: string, parameters: object, checks: object): Promise<Record<string, unknown>>;
  userinfo(tokens: object): Promise<Record<string, unknown>>;
};

const insecure = { execute: [client.allowInsecureRequests] };

describe("a site that is known by its document", () => {
  test("signs a user in with only the service's URL", async () => {
    const at = await visit();
    const { site, session, browser, person } = at;
    const { tokens } = await world.signInWith(site.app, session, browser, asked(at, { scope: "openid profile offline_access" }));
    expect(await (await world.userinfo(tokens.access_token)).json()).toMatchObject({ sub: person.id });
    expect(tokens).toMatchObject({ scope: "openid profile offline_access", refresh_token: expect.any(String) });
    expect(site.fetches()).toBe(1);
    await flushUsage();
    expect(await db().oAuthAppUsage.findMany({ where: { clientId: site.clientId } })).toMatchObject([
      { authorizations: 1, tokens: 1 },
    ]);
  });

  test("needs PKCE, whatever its document says (S8)", async () => {
    const at = await visit();
    const { answer } = await ask(at, asked(at, { code_challenge: "", code_challenge_method: "" }));
    expect(answer).toMatchObject({ error: "invalid_request" });
  });

  test("gets openid and profile if it requests no scope", async () => {
    const at = await visit();
    expect(await signInAtSite(at, { scope: "" })).toMatchObject({ scope: "openid profile" });
    expect(await signInAtSite(at, { scope: "openid email read-repos" })).not.toHaveProperty("refresh_token");
  });

  test("without a scope never gets offline_access, even if its document names neither openid nor profile", async () => {
    const at = await visit({ scope: "read-repos offline_access" });
    expect(await signInAtSite(at, { scope: "" })).toMatchObject({ scope: "read-repos" });
  });

  test("gets only scopes that its document names", async () => {
    const at = await visit({ scope: "openid profile email not-of-ours" });
    expect(await signInAtSite(at, { scope: "openid email" })).toMatchObject({ scope: "openid email" });
    expect((await ask(at, asked(at, { scope: "openid read-repos" }))).answer).toMatchObject({ error: "invalid_scope" });
  });

  test("works with openid-client", async () => {
    const at = await visit();
    const config = await client.discovery(new URL(world.origin), at.site.clientId, undefined, client.None(), insecure);
    expect(config.serverMetadata().client_id_metadata_document_supported).toBe(true);
    const verifier = client.randomPKCECodeVerifier();
    const pushed = await client.buildAuthorizationUrlWithPAR(config, {
      ...asked(at, { scope: "openid offline_access", state: "s" }),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const callback = (await world.follow(at.browser, pushed.href, at.session)) as URL;
    const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier, expectedState: "s" });
    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
    expect((await client.fetchUserInfo(config, renewed.access_token, at.person.id)).sub).toBe(at.person.id);
    await client.tokenRevocation(config, renewed.refresh_token ?? "");
    expect((await world.userinfo(renewed.access_token)).status).toBe(401);
  });
});

describe("what existing clients send and publish", () => {
  test("HuggingChat sends `scopes` as a string, and Basic with an empty secret (C3)", async () => {
    const at = await visit({ scopes: "openid profile email read-mcp inference-api", client_uri: "https://chat.example/" });
    const { Issuer, generators } = openidClient5();
    const issuer = await Issuer.discover(world.origin);
    const site = new issuer.Client({ client_id: at.site.clientId, client_secret: "", redirect_uris: [at.site.redirectUri] });
    const code_verifier = generators.codeVerifier();
    const url = site.authorizationUrl({
      scope: "openid profile email inference-api read-mcp",
      code_challenge_method: "S256",
      code_challenge: generators.codeChallenge(code_verifier),
      state: "s",
    });
    const landed = (await world.follow(at.browser, url, at.session)) as URL;
    const tokens = await site.callback(at.site.redirectUri, site.callbackParams(landed.href), { code_verifier, state: "s" });
    expect(tokens).toMatchObject({ token_type: "bearer", scope: "openid profile email inference-api" });
    expect(await site.userinfo(tokens)).toMatchObject({ sub: at.person.id, name: at.person.username, orgs: [] });
  });

  test("S84 an agent signs in although its document names unknown grants", async () => {
    const at = await visit({
      token_endpoint_auth_method: undefined,
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token", "urn:example:made-up", "client_credentials"],
      response_types: ["code"],
      redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
      contacts: ["mailto:nobody"],
      software_id: "agent",
    });
    const redirect_uri = "http://127.0.0.1:51789/callback";
    expect(await signInAtSite(at, { redirect_uri })).toMatchObject({ refresh_token: expect.any(String) });
    const refused = await ask(at, { redirect_uri: "http://[::1]:51789/callback" });
    expect([refused.status, refused.location]).toEqual([400, undefined]);
    const unknown = await world.post("/oauth/token", { grant_type: "client_credentials", client_id: at.site.clientId });
    expect(unknown.status).toBe(400);
  });

  test("a command line gets a device code if its document lists the grant", async () => {
    const grant = "urn:ietf:params:oauth:grant-type:device_code";
    const [with_, without] = [await visit({ grant_types: ["authorization_code", grant] }), await visit()];
    const started = await world.post("/oauth/device", { client_id: with_.site.clientId });
    expect(started.status).toBe(200);
    const { device_code } = (await started.json()) as { device_code: string };
    const poll = await world.post("/oauth/token", { grant_type: grant, device_code, client_id: with_.site.clientId });
    expect(await poll.json()).toMatchObject({ error: "authorization_pending" });
    const refused = await world.post("/oauth/device", { client_id: without.site.clientId });
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([400, "unauthorized_client"]);
  });
});

describe("S73 a client with keys must prove that it has them", () => {
  test("a sign-in without an assertion fails", async () => {
    const { publicKey, privateKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256", use: "sig" };
    const at = await visit({ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [jwk] } });
    const { code, verifier } = await authorize(at, asked(at));
    const form = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: at.site.redirectUri };
    const unbound = await ask(at, asked(at, { code_challenge: "", code_challenge_method: "" }));
    expect(unbound.answer).toMatchObject({ error: "invalid_request" });
    const anonymous = await world.post("/oauth/token", { ...form, client_id: at.site.clientId });
    expect([anonymous.status, await anonymous.json()]).toMatchObject([401, { error: "invalid_client" }]);

    const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
    const method = client.PrivateKeyJwt({ key, kid: "one" });
    const config = await client.discovery(new URL(world.origin), at.site.clientId, undefined, method, insecure);
    const again = await authorize(at, asked(at));
    const callback = new URL(
      `${at.site.redirectUri}?${new URLSearchParams({ code: again.code, state: "a state", iss: world.origin })}`,
    );
    const tokens = await client.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: again.verifier,
      expectedState: "a state",
    });
    expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true, sub: at.person.id });
  });

  test("S143 assertions live for five minutes and are counted by client and address", async () => {
    const pair = await clientKeyPair();
    const at = await visit({ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [pair.jwk] } });
    await ask(at, asked(at));
    const send = async (seconds: number) => {
      const exp = Math.floor(Date.now() / 1000) + seconds;
      const assertion = await pair.assertion(at.site.clientId, world.origin, { exp });
      const response = await world.post("/oauth/token", { grant_type: "refresh_token", refresh_token: "x", ...assertion });
      return { status: response.status, wait: response.headers.get("retry-after"), ...((await response.json()) as object) };
    };
    expect(await send(290)).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(await send(600)).toMatchObject({ status: 401, error: "invalid_client" });
    for (const [key, { limit }] of [
      [throttleKey("client-assertion-client", `127.0.0.1 ${at.site.clientId}`), ASSERTIONS_OF_CLIENT],
      [throttleKey("client-assertion-address", "127.0.0.1"), ASSERTIONS_OF_ADDRESS],
    ] as const) {
      await db().throttle.update({ where: { key }, data: { count: limit } });
      const wait = expect.stringMatching(/^\d+$/);
      expect(await send(60)).toMatchObject({ status: 429, error: "temporarily_unavailable", wait });
      await db().throttle.update({ where: { key }, data: { count: 0 } });
    }
    expect(await send(60)).toMatchObject({ status: 400, error: "invalid_grant" });
  });
});

describe("what the user sees", () => {
  test("S26 the host of the document beside the app's name", async () => {
    const at = await visit({ client_uri: "https://kite.example/about" });
    const { request } = await openQuestion(at, asked(at));
    expect(request).toMatchObject({
      app: {
        name: "Kite Runner",
        documentHost: at.site.host,
        homepageUrl: "https://kite.example/about",
        homepageHost: "kite.example",
        isVerified: false,
        isFirstParty: false,
        owner: null,
      },
      redirectTarget: at.site.host,
      isChanged: false,
    });
  });

  test("S27 S88 whether the code goes to the device or to another host", async () => {
    const uris = {
      "https://elsewhere.example/cb": { isRedirectToOtherHost: true, isOnDevice: false, redirectTarget: "elsewhere.example" },
      "http://localhost/cb": { isRedirectToOtherHost: false, isOnDevice: true, redirectTarget: "localhost" },
      "com.example.kite:/cb": { isRedirectToOtherHost: false, isOnDevice: true, redirectTarget: "com.example.kite" },
    };
    const at = await visit({ redirect_uris: Object.keys(uris) });
    for (const [redirect_uri, shown] of Object.entries(uris)) {
      expect((await openQuestion(at, { redirect_uri })).request).toMatchObject(shown);
    }
    const own = await visit();
    expect((await openQuestion(own, asked(own))).request).toMatchObject({ isOnDevice: true, isRedirectToOtherHost: false });
  });

  test("S29 a question the first time, and later only if the code stays on the device", async () => {
    const at = await visit({ redirect_uris: ["https://kite.example/cb", "http://127.0.0.1/cb"] });
    const onWeb = { redirect_uri: "https://kite.example/cb" };
    expect((await ask(at, { ...onWeb, prompt: "none" })).answer).toMatchObject({ error: "consent_required" });
    await (await openQuestion(at, onWeb)).allow();
    expect((await ask(at, { ...onWeb, prompt: "none" })).answer).toHaveProperty("code");
    expect((await ask(at, { redirect_uri: "http://127.0.0.1:8123/cb", prompt: "none" })).answer).toMatchObject({
      error: "consent_required",
    });
    expect((await ask(at, { ...onWeb, scope: "openid email", prompt: "none" })).answer).toMatchObject({
      error: "consent_required",
    });
  });

  test("an unfinished question has no effect for another document", async () => {
    const [one, two] = [await visit(), await visit()];
    const outcome = await ask(one, asked(one));
    const { request } = await openInteraction(one, outcome);
    expect(request.app.clientId).toBe(one.site.clientId);
    expect((await ask({ ...one, app: two.app }, asked(one))).status).toBe(400);
  });
});
