import { afterAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { clientKeyPair } from "../testing/assertion.ts";
import { prepare } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";
import { removeKeys, setKeys } from "./app-keys.ts";
import { createApp } from "./create-app.ts";
import { getApp } from "./get-app.ts";
import { updateApp } from "./update-app.ts";

const world = await startWorld();
afterAll(() => world.stop());

const change = (appId: string, settings: Parameters<typeof updateApp>[2]) =>
  updateApp(operatorCommand, appId, settings, noOrigin);
const set = (appId: string, jwk: object) =>
  setKeys(operatorCommand, appId, { jwks: JSON.stringify({ keys: [jwk] }), jwksUri: "" }, noOrigin);
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    ({ field, message }) => `${field}: ${message}`,
  );
const rs256 = async () => ({ ...(await clientKeyPair("RS256")).jwk, alg: "RS256" });

async function fapiApp() {
  const { app } = await prepare(world);
  await set(app.id, (await clientKeyPair()).jwk);
  await change(app.id, { securityProfile: "fapi2" });
  return app;
}

test("the FAPI profile turns on settings that stay on when the app leaves the profile", async () => {
  const app = await fapiApp();
  const needed = { isPkceRequired: true, isParRequired: true, isDpopRequired: true };
  expect((await getApp(operatorCommand, app.id)).app).toMatchObject({ securityProfile: "fapi2", ...needed });
  await change(app.id, { securityProfile: "standard" });
  expect((await getApp(operatorCommand, app.id)).app).toMatchObject({ securityProfile: "standard", ...needed });
  expect(await change(app.id, { isParRequired: false })).toMatchObject({ isParRequired: false });
});

test("the FAPI profile needs a usable key and no device flow", async () => {
  const { app } = await prepare(world, { isConfidential: true, isDeviceFlowAllowed: true });
  const choose = () => refusal(change(app.id, { securityProfile: "fapi2" }));
  expect(await choose()).toMatch(/^securityProfile: .*keys first/);
  await set(app.id, await rs256());
  expect(await choose()).toMatch(/^securityProfile: .*PS256, ES256 or EdDSA/);
  await set(app.id, (await clientKeyPair()).jwk);
  expect(await choose()).toMatch(/^securityProfile: .*device flow/);
  await change(app.id, { isDeviceFlowAllowed: false });
  expect(await choose()).toBe("done");
});

test("S146 the owner cannot turn off a setting that the FAPI profile requires", async () => {
  const app = await fapiApp();
  for (const field of ["isPkceRequired", "isParRequired", "isDpopRequired"] as const) {
    expect(await refusal(change(app.id, { [field]: false }))).toMatch(`${field}: FAPI 2.0 needs this on`);
  }
  expect(await refusal(change(app.id, { isRefreshRotated: true }))).toMatch("isRefreshRotated: FAPI 2.0 needs this off");
  expect(await refusal(change(app.id, { isDeviceFlowAllowed: true }))).toMatch(/device flow/);
  expect(await refusal(removeKeys(operatorCommand, app.id, noOrigin))).toMatch(/needs keys/);
  expect(await refusal(set(app.id, await rs256()))).toMatch(/PS256, ES256 or EdDSA/);
});

test("a new app cannot have the FAPI profile, because it has no keys", async () => {
  const { person } = await prepare(world);
  const input = { name: "Bank", scopes: ["openid"], redirectUris: [REDIRECT_URI], owner: { userId: person.id } };
  expect(await refusal(createApp(operatorCommand, { ...input, securityProfile: "fapi2" }, noOrigin))).toMatch(
    /^securityProfile: /,
  );
});
