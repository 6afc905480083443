import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { CLI_CLIENT_ID, ensureCliApp } from "#core/oauth/apps/create-app.ts";
import { allowDevice, waitForInterval } from "#core/oauth/testing/device.ts";
import type { World } from "#core/oauth/testing/world.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

/** C7 to C9, C13 in docs/specification/existing-clients.md. */
let world: World;
beforeAll(async () => {
  world = await startApiWorld();
  await ensureCliApp();
});
afterAll(() => world.stop());

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const headers = { "user-agent": "hf_hub/1.29.0; python/3.12.3", accept: "*/*" };
const send = async (path: string, form: Record<string, string>) => {
  const response = await world.post(path, form, headers);
  return { status: response.status, body: await response.json() };
};

test("the command line signs in by device code, renews its token, and learns when it must sign in again", async () => {
  const person = await world.user(`p-${newId()}`);
  const session = await world.signIn(world.browser(), person);

  const started = await send("/oauth/device", { client_id: CLI_CLIENT_ID });
  expect(started).toMatchObject({ status: 200, body: { verification_uri: `${world.origin}/device`, interval: 5 } });
  const poll = { grant_type: DEVICE_CODE, device_code: started.body.device_code, client_id: CLI_CLIENT_ID };
  expect(await send("/oauth/token", poll)).toMatchObject({ status: 400, body: { error: "authorization_pending" } });
  expect(await send("/oauth/token", poll)).toMatchObject({ status: 400, body: { error: "slow_down" } });

  const { consent } = await allowDevice(session, started.body.user_code);
  expect(consent).toMatchObject({
    app: { isFirstParty: true, isVerified: true },
    isOffline: true,
    accessTokenSeconds: 2_592_000,
  });
  expect(consent.scopes).toHaveLength(15);
  await waitForInterval(started.body, 10);
  const { status, body: tokens } = await send("/oauth/token", poll);
  expect(status).toBe(200);
  expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 2_592_000, refresh_token: expect.any(String) });
  expect(tokens.scope.split(" ")).toHaveLength(15);

  const whoami = async (token: string) => {
    const response = await fetch(`${world.origin}/api/whoami-v2`, { headers: { ...headers, authorization: `Bearer ${token}` } });
    return { status: response.status, body: await response.json() };
  };
  expect(await whoami(tokens.access_token)).toMatchObject({
    status: 200,
    body: { type: "user", name: person.username, orgs: [] },
  });

  const renewal = { grant_type: "refresh_token", refresh_token: tokens.refresh_token, client_id: CLI_CLIENT_ID };
  const renewed = await send("/oauth/token", renewal);
  expect(renewed).toMatchObject({ status: 200, body: { expires_in: 2_592_000, scope: tokens.scope } });
  expect(renewed.body.refresh_token).not.toBe(tokens.refresh_token);
  expect((await whoami(renewed.body.access_token)).status).toBe(200);

  await pool().query("UPDATE oauth_consent SET revoked_at = now() WHERE user_id = $1", [person.id]);
  expect(await send("/oauth/token", { ...renewal, refresh_token: renewed.body.refresh_token })).toMatchObject({
    status: 400,
    body: { error: "invalid_grant" },
  });
  expect((await whoami(renewed.body.access_token)).status).toBe(401);
});

test("the authorization page refuses the command line's app, which has only the device flow", async () => {
  const query = new URLSearchParams({
    client_id: CLI_CLIENT_ID,
    response_type: "code",
    redirect_uri: "http://localhost:1234/callback",
    scope: "openid",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  const response = await world.browser().fetch(`/oauth/authorize?${query}`);
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});
