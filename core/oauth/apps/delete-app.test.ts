import { expect, test } from "vitest";
import { deleteOwnedApps } from "../../accounts/delete-owned-apps.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { revokeClientConsents } from "../consents/revoke-consent.ts";
import { auditOf, giveConsent, longSignedIn, someApp, someone } from "../testing/apps.ts";
import { deleteApp } from "./transfer-app.ts";

test("S49 deleting an app revokes its consents and Grants", async () => {
  const [owner, user] = [await someone(), await someone()];
  const { app } = await someApp(owner, { isConfidential: true });
  const { app: other } = await someApp(owner);
  await giveConsent(app.clientId, user);
  await giveConsent(app.clientId, owner);
  await giveConsent(other.clientId, user);

  await deleteApp(owner, app.id, noOrigin);

  expect(await db().oAuthApp.findUnique({ where: { id: app.id } })).toBeNull();
  expect(await db().oAuthAppSecret.count({ where: { appId: app.id } })).toBe(0);
  const live = { revokedAt: null };
  expect(await db().oAuthConsent.count({ where: { clientId: app.clientId, ...live } })).toBe(0);
  expect(await db().oAuthGrant.count({ where: { clientId: app.clientId, ...live } })).toBe(0);
  expect(await db().oAuthGrant.count({ where: { clientId: other.clientId, ...live } })).toBe(1);
  const events = await auditOf(app.clientId);
  expect(events.at(-1)).toMatchObject({ type: "oauth_app.delete", data: { name: "Paper Lantern", revokedConsents: 2 } });
});

test("S113 S136 only a user who manages the app and has signed in recently can delete it", async () => {
  const owner = await someone();
  const { app } = await someApp(owner);
  await expect(deleteApp(longSignedIn(owner), app.id, noOrigin)).rejects.toMatchObject({ code: "reauthentication_required" });
  await expect(deleteApp(await someone(), app.id, noOrigin)).rejects.toMatchObject({ code: "not_found" });
  expect(await db().oAuthApp.count({ where: { id: app.id } })).toBe(1);
});

test("S137 a deletion finds the app's Grants without reading all Grants", async () => {
  const owner = await someone();
  const { app } = await someApp(owner);
  await giveConsent(app.clientId, owner);
  await db().$transaction(async (tx) => {
    const scans = async () => {
      const [row] = await tx.$queryRaw<{ scans: number }[]>`
        SELECT seq_scan::int AS scans FROM pg_stat_xact_user_tables WHERE relname = 'oauth_grant'`;
      return row?.scans;
    };
    await tx.$executeRaw`SET LOCAL enable_seqscan = off`;
    const before = await scans();
    await revokeClientConsents(tx, app.clientId);
    await deleteOwnedApps(tx, { ownerUserId: owner.userId }, { actorId: null, from: noOrigin });
    expect(await scans()).toBe(before);
  });
});
