import sharp from "sharp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { findImage } from "#core/images/stored-image.ts";
import { startHttpsSite } from "#core/testing/https-site.ts";
import { forgetFetches } from "../documents/within-fetch-limits.ts";
import { openQuestion } from "../testing/authorization.ts";
import { asApp, authorize, prepare, redemption } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { setRegistrationPolicy } from "./registration-policy.ts";

const world = await startWorld();
const site = await startHttpsSite();
await setRegistrationPolicy(operatorCommand, { isOn: true }, noOrigin);
beforeEach(forgetFetches);
afterAll(async () => {
  await world.stop();
  await site.stop();
});

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const agent = { client_name: "Quill", redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none" };

// biome-ignore lint/suspicious/noExplicitAny: responses whose members the tests name
async function send(method: string, url: string, metadata: object, headers: Record<string, string> = {}): Promise<any> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...agent, ...metadata }),
  });
  return response.json();
}
const register = (metadata: object) => send("POST", `${world.origin}/oauth/register`, metadata);
const replace = (registered: { registration_client_uri: string; registration_access_token: string }, metadata: object) =>
  send("PUT", registered.registration_client_uri, metadata, { authorization: `Bearer ${registered.registration_access_token}` });

async function show(background: string): Promise<void> {
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer();
  site.answer((_req, res) => res.writeHead(200, { "content-type": "image/png" }).end(picture));
}

async function questionOf(clientId: string) {
  const at = { ...(await prepare(world)), app: { id: "", clientId, secret: undefined } };
  return (await openQuestion(at, { redirect_uri: REDIRECT_URI })).request.app;
}

test("S82 the consent page shows the app's logo from the service's origin", async () => {
  await show("#b5892e");
  const uris = { tos_uri: "https://quill.example/terms", policy_uri: "https://quill.example/privacy" };
  const registered = await register({ logo_uri: `${site.origin}/logo.png`, ...uris });
  const app = await questionOf(registered.client_id);
  expect(app).toMatchObject({ isSelfRegistered: true, termsUrl: uris.tos_uri, policyUrl: uris.policy_uri });
  expect(await sharp((await findImage(app.logoId ?? ""))?.bytes).metadata()).toMatchObject({ format: "webp", width: 256 });

  site.answer((_req, res) => res.writeHead(404).end());
  const update = { client_id: registered.client_id, logo_uri: `${site.origin}/logo.png`, ...uris };
  await replace(registered, update);
  expect((await questionOf(registered.client_id)).logoId).toBe(app.logoId);
  await show("#123456");
  await replace(registered, { ...update, logo_uri: `${site.origin}/other.png` });
  const { logoId } = await db().oAuthApp.findUniqueOrThrow({ where: { clientId: registered.client_id } });
  expect(logoId).not.toBe(app.logoId);
  expect(await findImage(app.logoId ?? "")).toBeUndefined();
  await replace(registered, { client_id: registered.client_id });
  expect(await findImage(logoId ?? "")).toBeUndefined();
});

test("S28 S82 a new picture at the logo's URL, or other terms, remove the verified mark", async () => {
  await show("#b5892e");
  const logo_uri = `${site.origin}/logo.png`;
  const registered = await register({ logo_uri });
  const where = { clientId: registered.client_id };
  const isVerified = async () => (await db().oAuthApp.findUniqueOrThrow({ where })).verifiedAt !== null;
  await db().oAuthApp.update({ where, data: { verifiedAt: new Date() } });
  await replace(registered, { client_id: registered.client_id, logo_uri });
  expect(await isVerified()).toBe(true);
  await show("#123456");
  await replace(registered, { client_id: registered.client_id, logo_uri });
  expect(await isVerified()).toBe(false);
  await db().oAuthApp.update({ where, data: { verifiedAt: new Date() } });
  await replace(registered, { client_id: registered.client_id });
  expect(await isVerified()).toBe(false);
  for (const changes of [{ tos_uri: "https://quill.example/terms" }, { policy_uri: "https://quill.example/privacy" }]) {
    await db().oAuthApp.update({ where, data: { verifiedAt: new Date() } });
    await replace(registered, { client_id: registered.client_id, software_version: newId() });
    expect(await isVerified()).toBe(true);
    await replace(registered, { client_id: registered.client_id, ...changes });
    expect([changes, await isVerified()]).toEqual([changes, false]);
    await replace(registered, { client_id: registered.client_id });
  }
});

test("S77 an app is registered without a logo that is unusable or on the internal network", async () => {
  site.answer((_req, res) => res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>"));
  for (const logo_uri of [`${site.origin}/logo.png`, "https://10.0.0.1/logo.png", "https://nowhere.invalid/logo.png"]) {
    const { client_id } = await register({ logo_uri });
    expect(await db().oAuthApp.findUniqueOrThrow({ where: { clientId: client_id } })).toMatchObject({ logoId: null });
  }
});

test("an app's logo is deleted with the app", async () => {
  await show("#b5892e");
  const { client_id: clientId } = await register({ logo_uri: `${site.origin}/logo.png` });
  const { logoId } = await db().oAuthApp.findUniqueOrThrow({ where: { clientId } });
  expect(await findImage(logoId ?? "")).toBeDefined();
  await db().oAuthApp.delete({ where: { clientId } });
  expect(await findImage(logoId ?? "")).toBeUndefined();
});

test("RFC 7591 §2 an app gets only the grants that it names", async () => {
  const registered = await register({ grant_types: ["authorization_code"] });
  expect(registered).toMatchObject({ grant_types: ["authorization_code"], response_types: ["code"] });
  const at = { ...(await prepare(world)), app: { id: "", clientId: registered.client_id, secret: undefined } };
  const code = await authorize(at, { scope: "openid profile offline_access" });
  const tokens = await (await asApp(world, at.app, "/oauth/token", redemption(code))).json();
  expect(tokens).toMatchObject({ access_token: expect.any(String) });
  expect(tokens).not.toHaveProperty("refresh_token");
  const device = await (await asApp(world, at.app, "/oauth/device", {})).json();
  expect(device.error).toBe("unauthorized_client");

  const device2 = await register({ grant_types: [DEVICE_CODE, "refresh_token"] });
  expect(device2).toMatchObject({ grant_types: ["refresh_token", DEVICE_CODE], response_types: [] });
  const replaced = await replace(registered, { client_id: registered.client_id });
  expect(replaced.grant_types).toEqual(["authorization_code", DEVICE_CODE, "refresh_token"]);
});
