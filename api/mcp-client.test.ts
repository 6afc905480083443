import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { setRegistrationPolicy } from "#core/oauth/registration/registration-policy.ts";
import { type DocumentSite, startDocumentSite } from "#core/oauth/testing/document-site.ts";
import { prepare } from "#core/oauth/testing/sign-in.ts";
import { Agent, CALLBACK } from "./testing/mcp-agent.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
  await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
});
const sites: DocumentSite[] = [];
afterAll(async () => {
  await world.stop();
  for (const site of sites) await site.stop();
});

async function signInKnowingOnly(serverUrl: string, agent: Agent) {
  const at = await prepare(world);
  const call = () => fetch(serverUrl, { headers: agent.tokens() && { authorization: `Bearer ${agent.tokens()?.access_token}` } });

  const refusal = await call();
  expect(refusal.status).toBe(401);
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
  expect(await auth(agent, { serverUrl, resourceMetadataUrl, scope })).toBe("REDIRECT");
  expect(agent.sentTo?.searchParams.get("resource")).toBe(world.origin);
  const landed = (await world.follow(at.browser, String(agent.sentTo), at.session)) as URL;
  expect(landed.href).toContain(`${CALLBACK}?`);
  const authorizationCode = landed.searchParams.get("code") ?? "";
  expect(await auth(agent, { serverUrl, resourceMetadataUrl, scope, authorizationCode })).toBe("AUTHORIZED");
  const first = await call();
  expect(await first.json()).toMatchObject({ id: at.person.id, name: at.person.username });

  const before = agent.tokens();
  expect(before?.refresh_token).toBeTruthy();
  agent.sentTo = undefined;
  expect(await auth(agent, { serverUrl, resourceMetadataUrl })).toBe("AUTHORIZED");
  expect(agent.sentTo).toBeUndefined();
  expect(agent.tokens()?.access_token).not.toBe(before?.access_token);
  const second = await call();
  expect(await second.json()).toMatchObject({ id: at.person.id });
  return { at, tokens: agent.tokens() };
}

const whoami = () => `${world.origin}/api/whoami-v2`;

describe("the MCP SDK's client signs in knowing only our URL", () => {
  test("as an app that was created for it", async () => {
    const { person } = await prepare(world);
    const app = await world.app(person, { redirectUris: ["http://127.0.0.1/callback"], isRefreshAllowed: true });
    await signInKnowingOnly(whoami(), new Agent({ client: { client_id: app.clientId } }));
  });

  test.each([
    ["offline_access among its scopes", { scope: "openid profile offline_access" }],
    [
      "the refresh grant",
      { grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"] },
    ],
  ])("by a metadata document that names %s, without any registration", async (_, changes) => {
    const site = await startDocumentSite({ redirect_uris: ["http://127.0.0.1/callback"], ...changes });
    sites.push(site);
    const agent = new Agent({ clientMetadataUrl: site.clientId });
    const { at } = await signInKnowingOnly(whoami(), agent);
    expect(agent.clientInformation()).toMatchObject({ client_id: site.clientId });
    expect(await db().oAuthApp.count({ where: { clientId: site.clientId } })).toBe(0);
    expect(await db().oAuthConsent.count({ where: { clientId: site.clientId, userId: at.person.id } })).toBe(1);
  });

  test("by dynamic registration", async () => {
    const agent = new Agent();
    const { tokens } = await signInKnowingOnly(whoami(), agent);
    expect(tokens?.scope).toBe("openid profile");
    const { client_id } = agent.clientInformation() as { client_id: string };
    expect(await db().oAuthApp.findUnique({ where: { clientId: client_id } })).toMatchObject({
      name: "Quill",
      ownerUserId: null,
    });
  });

  test("without having received the challenge", async () => {
    const agent = new Agent();
    expect(await auth(agent, { serverUrl: world.origin, scope: "openid profile" })).toBe("REDIRECT");
    expect(agent.sentTo?.href).toContain(`${world.origin}/oauth/authorize?`);
  });
});
