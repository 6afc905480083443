import { expect, test } from "vitest";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { giveConsent, longSignedIn, organizationWith, someApp, someone } from "../testing/apps.ts";
import { appUsage } from "./app-usage.ts";
import { getApp } from "./get-app.ts";
import { APPS_PAGE_SIZE, listApps } from "./list-apps.ts";

test("only the owner can list apps, which are paged with the newest first", async () => {
  const [owner, other] = [await someone(), await someone()];
  const start = Date.now() - 1_000_000;
  await db().oAuthApp.createMany({
    data: Array.from({ length: APPS_PAGE_SIZE + 3 }, (_, at) => ({
      id: newId(),
      clientId: newId(),
      name: `App ${at}`,
      ownerUserId: owner.userId,
      createdAt: new Date(start + at * 1000),
    })),
  });
  await someApp(other);

  const mine = { userId: owner.userId };
  const first = await listApps(owner, mine);
  expect(first).toMatchObject({ total: APPS_PAGE_SIZE + 3, page: 1, pageCount: 2 });
  expect(first.apps.map(({ name }) => name)).toEqual(
    Array.from({ length: APPS_PAGE_SIZE }, (_, at) => `App ${APPS_PAGE_SIZE + 2 - at}`),
  );
  expect((await listApps(owner, mine, { page: 2 })).apps.map(({ name }) => name)).toEqual(["App 2", "App 1", "App 0"]);
  expect(await listApps(owner, mine, { page: 99 })).toMatchObject({ page: 2 });
  for (const page of [0, -1, Number.NaN, 0.5]) expect(await listApps(owner, mine, { page })).toMatchObject({ page: 1 });
  await expect(listApps(other, mine)).rejects.toMatchObject({ code: "not_found" });
});

test("only administrators can list their organization's apps", async () => {
  const [admin, writer] = [await someone(), await someone()];
  const orgId = await organizationWith({ [admin.userId]: "admin", [writer.userId]: "write" });
  const { app } = await someApp(admin, { owner: { orgId } });
  expect((await listApps(admin, { orgId })).apps.map(({ id }) => id)).toEqual([app.id]);
  expect((await listApps(admin, { userId: admin.userId })).total).toBe(0);
  await expect(listApps(writer, { orgId })).rejects.toMatchObject({ code: "not_found" });
  expect((await getApp(admin, app.id)).organization).toMatchObject({ id: orgId });
  await expect(getApp(writer, app.id)).rejects.toMatchObject({ code: "not_found" });
});

test("the number of users counts those who allow the app at the moment", async () => {
  const [owner, user] = [await someone(), await someone()];
  const { app } = await someApp(owner);
  const revoked = await giveConsent(app.clientId, user);
  await db().oAuthConsent.update({ where: { id: revoked }, data: { revokedAt: new Date() } });
  await giveConsent(app.clientId, user);
  await giveConsent(app.clientId, owner);
  expect((await listApps(owner, { userId: owner.userId })).apps).toMatchObject([{ userCount: 2 }]);
  expect(await getApp(longSignedIn(owner), app.id)).toMatchObject({ userCount: 2, organization: null, secrets: [] });
});

test("the total usage of 30 days counts each user once", async () => {
  const [owner, user] = [await someone(), await someone()];
  const { app } = await someApp(owner);
  const midnight = new Date();
  midnight.setUTCHours(0, 0, 0, 0);
  const daysAgo = (days: number) => new Date(midnight.getTime() - days * 86_400_000);
  const { clientId } = app;
  await db().oAuthAppUsage.createMany({
    data: [
      { clientId, day: daysAgo(0), authorizations: 2, tokens: 5 },
      { clientId, day: daysAgo(29), authorizations: 1, tokens: 1 },
      { clientId, day: daysAgo(30), authorizations: 100, tokens: 100 },
    ],
  });
  await db().oAuthAppActiveUser.createMany({
    data: [
      { clientId, day: daysAgo(0), userId: owner.userId },
      { clientId, day: daysAgo(0), userId: user.userId },
      { clientId, day: daysAgo(7), userId: user.userId },
      { clientId, day: daysAgo(30), userId: newId() },
    ],
  });

  const usage = await appUsage(owner, app.id);
  expect(usage.days).toHaveLength(30);
  expect(usage.days[0]).toEqual({ day: daysAgo(29).toISOString().slice(0, 10), authorizations: 1, tokens: 1, activeUsers: 0 });
  expect(usage.days[22]).toMatchObject({ authorizations: 0, activeUsers: 1 });
  expect(usage.days[29]).toMatchObject({ authorizations: 2, tokens: 5, activeUsers: 2 });
  expect(usage.total).toEqual({ authorizations: 3, tokens: 6, activeUsers: 2 });
  await expect(appUsage(user, app.id)).rejects.toMatchObject({ code: "not_found" });
});
