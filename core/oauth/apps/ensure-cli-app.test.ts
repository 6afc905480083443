import { scopes } from "@keyhook/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { env, provideSettings } from "../../env.ts";
import { someone } from "../testing/apps.ts";
import { addSecret } from "./app-secrets.ts";
import { CLI_CLIENT_ID, ensureCliApp } from "./create-app.ts";
import { deleteApp } from "./transfer-app.ts";
import { updateApp } from "./update-app.ts";

const find = () => db().oAuthApp.findUniqueOrThrow({ where: { clientId: CLI_CLIENT_ID }, include: { secrets: true } });

beforeEach(ensureCliApp);

const { BRAND_NAME } = env();
afterEach(() => provideSettings({ BRAND_NAME }));

test("the command line's app is public, works only with device codes, and has no owner", async () => {
  expect(CLI_CLIENT_ID).toBe("26be6b09-91c5-47da-9861-d2d2bb7a7e36");
  expect(await find()).toMatchObject({
    name: `${BRAND_NAME} CLI`,
    scopes: [...scopes],
    redirectUris: [],
    accessTokenSeconds: 2_592_000,
    isDeviceFlowAllowed: true,
    isRefreshAllowed: true,
    isFirstParty: true,
    isConfidential: false,
    verifiedAt: expect.any(Date),
    ownerUserId: null,
    ownerOrgId: null,
    secrets: [],
  });
});

test("several processes that start at once create one app for the command line", async () => {
  await db().oAuthApp.deleteMany({ where: { clientId: CLI_CLIENT_ID } });
  await Promise.all(Array.from({ length: 8 }, ensureCliApp));
  expect(await db().oAuthApp.count({ where: { clientId: CLI_CLIENT_ID } })).toBe(1);
});

test("a start changes nothing about the command line's app except the service's name", async () => {
  const before = await find();
  await ensureCliApp();
  expect(await find()).toEqual(before);
  provideSettings({ BRAND_NAME: "Tidepool" });
  await ensureCliApp();
  expect(await find()).toMatchObject({ id: before.id, name: "Tidepool CLI" });
});

test("the command line's app stays blocked after a start", async () => {
  await db().oAuthApp.update({ where: { clientId: CLI_CLIENT_ID }, data: { blockedAt: new Date() } });
  provideSettings({ BRAND_NAME: "Lagoon" });
  await ensureCliApp();
  expect((await find()).blockedAt).not.toBeNull();
  await db().oAuthApp.update({ where: { clientId: CLI_CLIENT_ID }, data: { blockedAt: null } });
});

describe("nobody can change or delete the command line's app in the settings", () => {
  const attempts = {
    update: (actor: Parameters<typeof updateApp>[0], id: string) => updateApp(actor, id, { name: "Mine" }, noOrigin),
    "a secret": (actor: Parameters<typeof updateApp>[0], id: string) => addSecret(actor, id, noOrigin),
    deletion: (actor: Parameters<typeof updateApp>[0], id: string) => deleteApp(actor, id, noOrigin),
  };

  test.each(Object.entries(attempts))("%s", async (_what, attempt) => {
    const before = await find();
    await expect(attempt(await someone(), before.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(attempt(await someone({ isOperator: true }), before.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(attempt(operatorCommand, before.id)).rejects.toMatchObject({ code: "forbidden" });
    expect(await find()).toEqual(before);
  });
});
