import { randomUUID } from "node:crypto";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimsOf } from "#core/oauth/testing/authorization.ts";
import { type DocumentSite, startDocumentSite } from "#core/oauth/testing/document-site.ts";
import { type Prepared, prepare } from "#core/oauth/testing/sign-in.ts";
import { REDIRECT_URI } from "#core/oauth/testing/world.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** C1 to C6, C14 in docs/specification/existing-clients.md. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
const sites: DocumentSite[] = [];
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(async () => {
  await world.stop();
  for (const site of sites) await site.stop();
});

async function site(changes: Record<string, unknown> = {}) {
  const started = await startDocumentSite(changes);
  sites.push(started);
  return started;
}

const metadata = async () => (await fetch(`${world.origin}/.well-known/openid-configuration`)).json();

async function visit({ browser, session }: Prepared, parameters: Record<string, string>) {
  const { authorization_endpoint } = await metadata();
  const landed = await world.follow(browser, `${authorization_endpoint}?${new URLSearchParams(parameters)}`, session);
  return Object.fromEntries((landed as URL).searchParams);
}

async function redeem(form: Record<string, string>, headers: Record<string, string> = {}) {
  const { token_endpoint } = await metadata();
  const response = await world.post(new URL(token_endpoint).pathname, form, headers);
  return { status: response.status, body: await response.json() };
}

const challengeOf = (verifier: string) => oauth.calculatePKCECodeChallenge(verifier);

describe("the hub's JavaScript client, which sends no client_id with its code", () => {
  const clients = {
    "an app": async () => {
      const { app } = await prepare(world);
      return { clientId: app.clientId, redirectUrl: REDIRECT_URI };
    },
    "a metadata document": async () => {
      const { clientId, redirectUri } = await site();
      return { clientId, redirectUrl: redirectUri };
    },
  };

  test.each(Object.keys(clients) as (keyof typeof clients)[])("signs in as %s", async (kind) => {
    const { clientId, redirectUrl } = await clients[kind]();
    const at = await prepare(world);
    const verifier = randomUUID() + randomUUID();
    const state = JSON.stringify({ nonce: randomUUID(), redirectUri: redirectUrl, state: '{"page":"home"}' });
    const answer = await visit(at, {
      client_id: clientId,
      scope: "openid profile",
      response_type: "code",
      redirect_uri: redirectUrl,
      state,
      code_challenge: await challengeOf(verifier),
      code_challenge_method: "S256",
    });
    expect(answer.state).toBe(state);
    const { status, body } = await redeem({
      grant_type: "authorization_code",
      code: answer.code ?? "",
      redirect_uri: redirectUrl,
      code_verifier: verifier,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "bearer", expires_in: 28_800, scope: "openid profile" });

    const { userinfo_endpoint } = await metadata();
    const userinfo = await fetch(userinfo_endpoint, { headers: { authorization: `Bearer ${body.access_token}` } });
    expect(await userinfo.json()).toMatchObject({ sub: at.person.id, preferred_username: at.person.username, orgs: [] });
    const whoami = await fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `bearer ${body.access_token}` } });
    expect(await whoami.json()).toMatchObject({ type: "user", name: at.person.username });
  });
});

test("HuggingChat signs in with openid-client 5, a metadata document, Basic with an empty secret, and scopes of the public hub", async () => {
  const scopes = "openid profile inference-api read-mcp";
  const { clientId, redirectUri } = await site({ scopes, client_uri: "https://chat.example.test/" });
  const at = await prepare(world);
  const verifier = oauth.generateRandomCodeVerifier();
  const answer = await visit(at, {
    client_id: clientId,
    scope: scopes,
    response_type: "code",
    redirect_uri: redirectUri,
    state: "a state",
    code_challenge: await challengeOf(verifier),
    code_challenge_method: "S256",
  });
  expect(answer).toMatchObject({ state: "a state", iss: world.origin, code: expect.any(String) });
  const form = { grant_type: "authorization_code", code: answer.code ?? "", redirect_uri: redirectUri, code_verifier: verifier };
  const { status, body } = await redeem(form, { authorization: world.basic(clientId, "") });
  expect([status, body.scope]).toEqual([200, "openid profile inference-api"]);
  const { userinfo_endpoint } = await metadata();
  const userinfo = await fetch(userinfo_endpoint, { headers: { authorization: `${body.token_type} ${body.access_token}` } });
  expect(await userinfo.json()).toMatchObject({ sub: at.person.id, name: at.person.username });
});

test("the Python helper on Authlib signs in with a secret and a nonce, and needs only the ID token", async () => {
  const redirect_uri = `${REDIRECT_URI}?_target_url=%2F`;
  const at = await prepare(world, {
    isConfidential: true,
    isPkceRequired: false,
    redirectUris: [redirect_uri],
    scopes: ["openid", "profile", "email"],
  });
  const answer = await visit(at, {
    response_type: "code",
    client_id: at.app.clientId,
    redirect_uri,
    scope: "openid profile email",
    state: "a state",
    nonce: "a nonce",
  });
  const form = { grant_type: "authorization_code", redirect_uri, code: answer.code ?? "" };
  const { body } = await redeem(form, { authorization: world.basic(at.app.clientId, at.app.secret ?? "") });
  expect(claimsOf(body.id_token)).toMatchObject({
    iss: world.origin,
    aud: at.app.clientId,
    nonce: "a nonce",
    sub: at.person.id,
    name: at.person.username,
    preferred_username: at.person.username,
    profile: expect.stringContaining(world.origin),
    picture: expect.stringContaining(world.origin),
    email: at.person.email,
    email_verified: true,
    auth_time: expect.any(Number),
  });
});

test("the JavaScript project's own test posts to the authorization endpoint, and expects 303", async () => {
  const at = await prepare(world);
  const parameters = {
    client_id: at.app.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid profile",
    state: "a state",
    code_challenge: await challengeOf("x".repeat(43)),
    code_challenge_method: "S256",
  };
  await visit(at, parameters);
  const response = await at.browser.fetch("/oauth/authorize", { method: "POST", body: new URLSearchParams(parameters) });
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toMatch(new RegExp(`^${REDIRECT_URI}\\?code=`));
});
