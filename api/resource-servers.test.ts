import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand, type Person } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { listConsents } from "#core/oauth/consents/list-consents.ts";
import { setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import {
  addResourceServer,
  findResourceApp,
  listResourceServers,
  removeResourceServer,
} from "#core/oauth/resources/manage-resource-servers.ts";
import { ask, openQuestion, resume } from "#core/oauth/testing/authorization.ts";
import { allowDevice, poll, startDevice } from "#core/oauth/testing/device.ts";
import { asApp, authorize, type Prepared, prepare, redemption, refresh, type Tokens } from "#core/oauth/testing/sign-in.ts";
import { Agent } from "./testing/mcp-agent.ts";
import { startMcpServer } from "./testing/mcp-server.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let mcp: Awaited<ReturnType<typeof startMcpServer>>;
let credentials: { clientId: string; secret: string };
beforeAll(async () => {
  world = await startApiWorld();
  mcp = await startMcpServer(world.origin);
  credentials = await addResourceServer(operatorCommand, { identifier: mcp.resource, name: "Team tools" }, noOrigin);
  mcp.useCredentials(world.basic(credentials.clientId, credentials.secret));
  await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
});
afterAll(async () => {
  await mcp.stop();
  await world.stop();
});

const add = (identifier: string, extra: { name?: string; scopes?: string[] } = {}) =>
  addResourceServer(operatorCommand, { identifier, name: "Other tools", ...extra }, noOrigin);
const elsewhere = () => `https://${newId()}.example.test/mcp`;

async function tokensFor(at: Prepared, resource: string) {
  const code = await authorize(at, { resource });
  const answer = await asApp(world, at.app, "/oauth/token", redemption(code));
  return { status: answer.status, body: (await answer.json()) as Tokens & { error?: string } };
}

const whoami = async (token: string) =>
  (await fetch(`${world.origin}/api/whoami-v2`, { headers: { authorization: `Bearer ${token}` } })).status;
const introspect = async (token: string, by = credentials) => {
  const authorization = world.basic(by.clientId, by.secret);
  return (await world.post("/oauth/introspect", { token }, { authorization })).json();
};

describe("an MCP server beside this service", () => {
  test("can be used with the SDK's client, which signs in knowing only the server's URL", async () => {
    const { session, browser, person } = await prepare(world);
    const agent = new Agent();
    const refusal = await mcp.call();
    expect(refusal.status).toBe(401);
    const options = { serverUrl: mcp.resource, ...extractWWWAuthenticateParams(refusal) };
    expect(await auth(agent, options)).toBe("REDIRECT");
    expect(agent.sentTo?.searchParams.get("resource")).toBe(mcp.resource);
    const landed = (await world.follow(browser, String(agent.sentTo), session)) as URL;
    const authorizationCode = landed.searchParams.get("code") ?? "";
    expect(await auth(agent, { ...options, authorizationCode })).toBe("AUTHORIZED");

    const token = () => agent.tokens()?.access_token ?? "";
    expect(await (await mcp.call(token())).json()).toEqual({ hello: person.id, scope: "openid profile" });
    // S54: the token is valid only at the MCP server.
    expect(await whoami(token())).toBe(401);
    expect((await world.userinfo(token())).status).toBe(401);

    const first = token();
    expect(await auth(agent, options)).toBe("AUTHORIZED");
    expect(token()).not.toBe(first);
    expect((await mcp.call(token())).status).toBe(200);
    expect(await whoami(token())).toBe(401);
  });

  test("S104 can introspect only valid access tokens that were issued for itself", async () => {
    const at = await prepare(world, { isRefreshAllowed: true });
    const other = await add(elsewhere());
    const [own, api, foreign] = [
      await tokensFor(at, mcp.resource),
      await tokensFor(at, world.origin),
      await tokensFor(at, other.resource.identifier),
    ];
    expect(await introspect(own.body.access_token)).toMatchObject({
      active: true,
      aud: mcp.resource,
      sub: at.person.id,
      client_id: at.app.clientId,
    });
    for (const token of [
      api.body.access_token,
      foreign.body.access_token,
      own.body.refresh_token,
      own.body.id_token,
      "nonsense",
    ]) {
      expect(await introspect(token)).toEqual({ active: false });
    }
    expect(await introspect(own.body.access_token, other)).toEqual({ active: false });
    expect(await introspect(foreign.body.access_token, other)).toMatchObject({ active: true });

    await db().oAuthConsent.updateMany({ where: { clientId: at.app.clientId }, data: { revokedAt: new Date() } });
    expect(await introspect(own.body.access_token)).toEqual({ active: false });
  });

  test("gets tokens with at most the scopes with which it was registered", async () => {
    const at = await prepare(world);
    const code = await authorize(at, { resource: mcp.resource, scope: "openid profile email read-repos" });
    const answer = await (await asApp(world, at.app, "/oauth/token", redemption(code))).json();
    expect(answer.scope).toBe("openid profile");
  });

  test("can be used with the device flow too, and the page names the server", async () => {
    const at = await prepare(world, { isDeviceFlowAllowed: true });
    const started = await startDevice(at, { resource: mcp.resource, scope: "openid profile" });
    const { consent } = await allowDevice(at.session, started.user_code);
    expect(consent.resources).toMatchObject([{ name: "Team tools" }]);
    const { body } = await poll(at, started.device_code);
    expect((await mcp.call(body.access_token)).status).toBe(200);
    expect(await whoami(body.access_token)).toBe(401);
  });

  test("cannot sign users in with its credentials", async () => {
    const at = { ...(await prepare(world)), app: { id: "", ...credentials } };
    expect((await ask(at)).status).toBe(400);
    expect((await (await asApp(world, at.app, "/oauth/device", {})).json()).error).toBe("unauthorized_client");
    const answer = await asApp(world, at.app, "/oauth/token", { grant_type: "client_credentials" });
    expect((await answer.json()).error).toBe("unsupported_grant_type");
  });
});

describe("a user is asked before an app may act at another service", () => {
  test("once, even if the app is already known", async () => {
    const at = await prepare(world);
    await authorize(at);
    expect((await ask(at)).isQuestion).toBe(false);
    const silent = await ask(at, { resource: mcp.resource, prompt: "none" });
    expect(silent.answer).toMatchObject({ error: "consent_required" });

    const question = await openQuestion(at, { resource: mcp.resource });
    expect(question.request.resources).toMatchObject([{ identifier: mcp.resource, name: "Team tools" }]);
    expect(question.request.scopes).toEqual([]);
    expect((await resume(at, await question.allow())).answer).toHaveProperty("code");
    expect((await ask(at, { resource: mcp.resource })).isQuestion).toBe(false);
    expect((await listConsents(at.person.id)).items).toMatchObject([{ resources: [{ name: "Team tools" }] }]);
    expect((await ask(at, { resource: (await add(elsewhere())).resource.identifier })).isQuestion).toBe(true);
  });

  test("but not at the service's own API, which the scopes already cover", async () => {
    const at = await prepare(world);
    await authorize(at);
    for (const resource of [world.origin, `${world.origin}/`]) expect((await ask(at, { resource })).isQuestion).toBe(false);
    expect((await openQuestion(at, { resource: world.origin, prompt: "consent" })).request.resources).toEqual([]);
  });
});

describe("S54 RFC 8707 several resources", () => {
  async function both() {
    const at = await prepare(world, { isRefreshAllowed: true });
    const other = (await add(elsewhere())).resource.identifier;
    const code = await authorizeAll(at, [mcp.resource, other]);
    return { at, other, code };
  }

  async function authorizeAll(at: Prepared, resources: string[]) {
    const form = new URL(world.authorizeUrl(at.app, {})).searchParams;
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const entries: [string, string][] = [
      ...form,
      ["code_challenge", challenge],
      ["code_challenge_method", "S256"],
      ...resources.map((each): [string, string] => ["resource", each]),
    ];
    const question = await openQuestion(at, entries);
    expect(question.request.resources.map(({ identifier }) => identifier).sort()).toEqual([...resources].sort());
    const { answer } = await resume(at, await question.allow());
    return { code: answer.code ?? "", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" };
  }

  test("an access token is for the one resource that the request names, and a refresh can name another", async () => {
    const { at, other, code } = await both();
    const answer = await asApp(world, at.app, "/oauth/token", redemption(code, { resource: other }));
    const tokens = await answer.json();
    expect((await mcp.call(tokens.access_token)).status).toBe(401);
    const next = await refresh(at, tokens.refresh_token, { resource: mcp.resource });
    expect((await mcp.call(next.body.access_token)).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ["a request without a resource", {}],
    ["the service's API, which was not requested", { resource: "ORIGIN" }],
    ["a registered server that was not requested", { resource: "REGISTERED" }],
    ["a server that does not exist", { resource: "https://nowhere.example.test/mcp" }],
  ])("%s gets invalid_target", async (_, { resource }) => {
    const { at, code } = await both();
    const named = {
      ORIGIN: world.origin,
      REGISTERED: resource === "REGISTERED" ? (await add(elsewhere())).resource.identifier : "",
    };
    const value = resource && (named[resource as keyof typeof named] ?? resource);
    const answer = await asApp(world, at.app, "/oauth/token", redemption(code, value ? { resource: value } : {}));
    expect([answer.status, (await answer.json()).error]).toEqual([400, "invalid_target"]);
  });
});

describe("registering", () => {
  test.each<[string, string]>([
    ["plain http outside of this machine", "http://mcp.example.test/mcp"],
    ["a text that is not a URL", "team tools"],
    ["another scheme", "urn:team:tools"],
    ["a URL with a fragment", "https://mcp.example.test/mcp#x"],
    ["a URL with a query", "https://mcp.example.test/mcp?x=1"],
    ["a URL with userinfo", "https://me@mcp.example.test/"],
    ["a host with capital letters", "https://MCP.example.test/mcp"],
    ["a path with ..", "https://mcp.example.test/a/../mcp"],
    ["a URL with a NUL byte", "https://mcp.example.test/\0"],
  ])("%s is refused", async (_, identifier) => {
    await expect(add(identifier)).rejects.toMatchObject({ code: "invalid_request", field: "identifier" });
  });

  test("the service's own API, a registered server, unknown scopes and an empty name are refused", async () => {
    for (const own of [world.origin, `${world.origin}/`]) await expect(add(own)).rejects.toMatchObject({ field: "identifier" });
    await expect(add(mcp.resource)).rejects.toMatchObject({ code: "conflict" });
    await expect(add(elsewhere(), { scopes: ["everything"] })).rejects.toMatchObject({ field: "scopes" });
    await expect(add(elsewhere(), { name: " " })).rejects.toMatchObject({ field: "name" });
  });

  test("a bare origin is the same with and without a slash at its end", async () => {
    const at = await prepare(world);
    const { resource } = await add(`https://${newId()}.example.test/`);
    expect(resource.identifier).not.toMatch(/\/$/);
    for (const named of [resource.identifier, `${resource.identifier}/`]) {
      expect((await tokensFor(at, named)).status).toBe(200);
    }
  });

  test("S116 is recorded without the secret, and removing a server is recorded too", async () => {
    const { resource, clientId, secret } = await add(elsewhere());
    await removeResourceServer(operatorCommand, resource.identifier, noOrigin);
    const events = await db().auditEvent.findMany({ where: { clientId }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "resource_server.add", data: resource },
      { type: "resource_server.remove", data: { identifier: resource.identifier, name: resource.name } },
    ]);
    expect(JSON.stringify(events, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(secret);
  });

  test("is only for operators", async () => {
    const { person, session } = await prepare(world);
    const somebody: Person = {
      kind: "person",
      userId: person.id,
      isOperator: false,
      sessionId: session.id,
      authenticatedAt: new Date(),
    };
    const attempts = [
      () => addResourceServer(somebody, { identifier: elsewhere(), name: "Mine" }, noOrigin),
      () => removeResourceServer(somebody, mcp.resource, noOrigin),
      () => listResourceServers(somebody),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "forbidden" });
    expect((await listResourceServers(operatorCommand)).map(({ identifier }) => identifier)).toContain(mcp.resource);
  });

  test("removing a server ends its tokens for good, and a new registration asks users again", async () => {
    const at = await prepare(world, { isRefreshAllowed: true });
    const { resource, ...first } = await add(elsewhere());
    const { body } = await tokensFor(at, resource.identifier);
    const kept = await tokensFor(at, world.origin);
    expect(await introspect(body.access_token, first)).toMatchObject({ active: true });

    await removeResourceServer(operatorCommand, resource.identifier, noOrigin);
    expect(await findResourceApp(resource.identifier)).toBeUndefined();
    // The service keeps clients in memory until the database reports the change.
    await expect.poll(() => introspect(body.access_token, first)).toMatchObject({ error: "invalid_client" });
    expect((await ask(at, { resource: resource.identifier })).answer).toMatchObject({ error: "invalid_target" });
    expect(await whoami(kept.body.access_token)).toBe(200);

    const second = await add(resource.identifier);
    expect(await introspect(body.access_token, second)).toEqual({ active: false });
    expect((await refresh(at, body.refresh_token)).body.error).toBe("invalid_grant");
    expect((await ask(at, { resource: resource.identifier })).isQuestion).toBe(true);
    await expect(removeResourceServer(operatorCommand, elsewhere(), noOrigin)).rejects.toMatchObject({ code: "not_found" });
  });
});
