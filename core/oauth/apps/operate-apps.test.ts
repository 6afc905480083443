import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import type { Person } from "../../access/actor.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { auditOf, giveConsent, longSignedIn, organizationWith, someApp, someone } from "../testing/apps.ts";
import { setAppBlock, setAppVerified } from "./app-privilege.ts";
import { listAllApps } from "./list-apps.ts";
import { updateApp } from "./update-app.ts";

let operator: Person;
beforeAll(async () => {
  operator = await someone({ isOperator: true });
});

describe("setAppBlock", () => {
  test("S49 makes an app unknown at once, and revokes its consents", async () => {
    const [owner, user] = [await someone(), await someone()];
    const [{ app }, { app: other }] = [await someApp(owner), await someApp(owner)];
    for (const { clientId } of [app, other]) await giveConsent(clientId, user);
    expect(await findClientMetadata(app.clientId)).toBeDefined();

    await setAppBlock(operator, app.id, true, noOrigin);
    await expect.poll(() => findClientMetadata(app.clientId)).toBeUndefined();
    const live = { revokedAt: null };
    expect(await db().oAuthConsent.count({ where: { clientId: app.clientId, ...live } })).toBe(0);
    expect(await db().oAuthGrant.count({ where: { clientId: app.clientId, ...live } })).toBe(0);
    expect(await db().oAuthGrant.count({ where: { clientId: other.clientId, ...live } })).toBe(1);

    await setAppBlock(operator, app.id, false, noOrigin);
    await expect.poll(() => findClientMetadata(app.clientId)).toBeDefined();
    expect(await db().oAuthGrant.count({ where: { clientId: app.clientId, ...live } })).toBe(0);
    expect((await auditOf(app.clientId)).slice(-2)).toMatchObject([
      { type: "oauth_app.block", actorId: operator.userId, data: { name: app.name, revokedConsents: 1 } },
      { type: "oauth_app.unblock", actorId: operator.userId },
    ]);
  });

  test("S116 changes and records nothing if the app is already blocked", async () => {
    const { app } = await someApp(await someone());
    await setAppBlock(operator, app.id, true, noOrigin);
    const [{ blockedAt }, events] = [await read(app.id), await auditOf(app.clientId)];
    await setAppBlock(operator, app.id, true, noOrigin);
    expect((await read(app.id)).blockedAt).toEqual(blockedAt);
    expect(await auditOf(app.clientId)).toHaveLength(events.length);
  });
});

test("granting or removing the verified mark writes an entry", async () => {
  const { app } = await someApp(await someone());
  await setAppVerified(operator, app.id, true, noOrigin);
  expect((await read(app.id)).verifiedAt).toBeInstanceOf(Date);
  await setAppVerified(operator, app.id, false, noOrigin);
  expect((await read(app.id)).verifiedAt).toBeNull();
  expect((await auditOf(app.clientId)).map(({ type }) => type).slice(-2)).toEqual(["oauth_app.verify", "oauth_app.unverify"]);
});

test("S28 a verified app loses its mark when the owner changes its looks", async () => {
  const owner = await someone();
  const { app } = await someApp(owner);
  const isVerified = async () => (await read(app.id)).verifiedAt !== null;
  const verify = async (shown: Date) => setAppVerified(operator, app.id, true, noOrigin, shown.toISOString());
  await updateApp(owner, app.id, { name: "Harmless" }, noOrigin);
  await expect(verify(app.updatedAt)).rejects.toMatchObject({ code: "conflict" });
  const logo = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#b5892e" } })
    .png()
    .toBuffer();
  for (const changes of [
    { name: "Your Bank" },
    { homepageUrl: "https://bank.example" },
    { redirectUris: ["https://else.example/cb"] },
    { isDeviceFlowAllowed: true },
    { logo },
  ]) {
    await verify((await read(app.id)).updatedAt);
    await updateApp(owner, app.id, { description: newId(), isRefreshAllowed: true }, noOrigin);
    expect(await isVerified()).toBe(true);
    await updateApp(owner, app.id, changes, noOrigin);
    expect([changes, await isVerified()]).toEqual([changes, false]);
    expect((await auditOf(app.clientId)).at(-1)?.data).toMatchObject({ wasVerified: true });
  }
});

test.each([
  ["block", setAppBlock],
  ["verify", setAppVerified],
] as const)("S113 S136 to %s an app, an operator must have confirmed their identity recently", async (_, change) => {
  const owner = await someone();
  const { app } = await someApp(owner);
  await expect(change(owner, app.id, true, noOrigin)).rejects.toMatchObject({ code: "not_found" });
  await expect(change(longSignedIn(operator), app.id, true, noOrigin)).rejects.toMatchObject({
    code: "reauthentication_required",
  });
  for (const id of [newId(), "no id", "\0"]) {
    await expect(change(operator, id, true, noOrigin)).rejects.toMatchObject({ code: "not_found" });
  }
  expect(await read(app.id)).toMatchObject({ blockedAt: null, verifiedAt: null });
});

describe("listAllApps", () => {
  test("finds apps by name, client ID and owner", async () => {
    const name = `Moss ${newId()}`;
    const [owner, admin] = [await someone(), await someone()];
    const orgId = await organizationWith({ [admin.userId]: "admin" });
    const { app: one } = await someApp(owner, { name });
    const { app: two } = await someApp(admin, { owner: { orgId } });
    const found = async (text: string) => (await listAllApps(operator, { text })).items.map(({ id }) => id);
    expect(await found(name.toUpperCase())).toEqual([one.id]);
    expect(await found(two.clientId)).toEqual([two.id]);
    expect(await found((await db().user.findUniqueOrThrow({ where: { id: owner.userId } })).username)).toEqual([one.id]);
    expect(await found(`org-${orgId}`)).toEqual([two.id]);
    expect((await listAllApps(operator, { text: two.clientId })).items).toMatchObject([
      { owner: { handle: `org-${orgId}`, isOrganization: true }, userCount: 0 },
    ]);
    expect(await found(`${name.slice(0, -2)}%`)).toEqual([]);
    expect(await found("_".repeat(name.length))).toEqual([]);
    expect(await found("\0")).toEqual(await found(""));
  });

  test("filters by state and is paged", async () => {
    const { app } = await someApp(await someone(), { name: `Fern ${newId()}` });
    const count = async (state: "blocked" | "verified") => (await listAllApps(operator, { text: app.name, state })).total;
    expect([await count("blocked"), await count("verified")]).toEqual([0, 0]);
    await setAppBlock(operator, app.id, true, noOrigin);
    expect([await count("blocked"), await count("verified")]).toEqual([1, 0]);
    expect(await listAllApps(operator, { page: 2, pageSize: 1 })).toMatchObject({ page: 2, items: [{}] });
    expect((await listAllApps(operator, { page: 99_999 })).items).toEqual([]);
  });

  test("refuses users who are not operators", async () => {
    await expect(listAllApps(await someone())).rejects.toMatchObject({ code: "forbidden" });
  });
});

const read = (id: string) => db().oAuthApp.findUniqueOrThrow({ where: { id } });
