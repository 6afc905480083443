import { expect, test } from "vitest";
import { freshName, organizationOf, signedInPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { createApp } from "#core/oauth/apps/create-app.ts";
import { adminLine as admin } from "./testing/admin-line.ts";

test("an organization is listed, gets another plan, and is deleted", async () => {
  const ada = await signedInPerson();
  const { id, name } = await organizationOf(ada);
  const { app } = await createApp(
    ada.actor,
    { name: "Cron", redirectUris: [], scopes: ["openid"], isDeviceFlowAllowed: true, owner: { orgId: id } },
    { ip: null, userAgent: null },
  );
  await db().oAuthApp.update({ where: { id: app.id }, data: { boundOrgId: id, privileges: ["token-exchange"] } });
  await someRepo(ada, { owner: name, name: freshName("tide") });

  expect(await admin("org", "set-plan", "--org", name, "--plan", "enterprise")).toMatchObject({
    json: { plan: "enterprise", stopped_apps: 0 },
  });
  expect((await admin("org", "list", "--search", name, "--plan", "enterprise")).json).toMatchObject({
    total: 1,
    organizations: [{ id, name, plan: "enterprise", members: 1, administrator: ada.username, email: ada.email }],
  });
  const lost = await admin("org", "set-plan", "--org", name, "--plan", "free");
  expect(lost).toMatchObject({ json: { plan: null, stopped_apps: 1 } });
  expect(lost.text).toContain("Token exchange by 1 app has stopped.");
  expect((await admin("org", "list", "--search", name, "--plan", "enterprise")).json).toMatchObject({ total: 0 });

  expect(await admin("org", "delete", "--org", name, "--confirm", "other")).toMatchObject({ exitCode: 2 });
  expect(await admin("org", "delete", "--org", name, "--confirm", name)).toMatchObject({
    json: { deleted: name, repos: 1, apps: 1 },
  });
  expect(await admin("org", "delete", "--org", name, "--confirm", name)).toMatchObject({ exitCode: 1 });
});
