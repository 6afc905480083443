import { scopes } from "@keyhook/sdk";
import { afterAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { newId } from "#core/ids.ts";
import { updateApp } from "../apps/update-app.ts";
import { findClientMetadata } from "../clients/find-client.ts";
import { openQuestion, resume } from "../testing/authorization.ts";
import { asApp, prepare, refresh, signIn } from "../testing/sign-in.ts";
import { startWorld } from "../testing/world.ts";
import { findBearer } from "../tokens/find-bearer.ts";
import { readConsent } from "./find-consent.ts";
import { narrowConsent } from "./narrow-consent.ts";

const world = await startWorld();
afterAll(() => world.stop());

const SCOPES = ["openid", "profile", "email", "read-repos", "offline_access"];

async function allowed(orgs: number, isAllOrgs = false) {
  const at = await prepare(world);
  const orgIds = await Promise.all(
    Array.from({ length: orgs }, () => world.organization(`org-${newId()}`, { [at.person.id]: "write" })),
  );
  await (await openQuestion(at, { scope: SCOPES.join(" ") })).allow({ orgIds, isAllOrgs });
  const read = async () => (await readConsent(at.person.id, at.app.clientId)) ?? expect.fail("There is no consent.");
  const { id } = await read();
  const narrow = (kept: Partial<Parameters<typeof narrowConsent>[2]>) =>
    narrowConsent(at.session, id, { scopes: SCOPES, orgIds, isAllOrgs, ...kept }, noOrigin);
  return { at, orgIds, id, read, narrow };
}

test("S30 S31 unticked items are revoked and remembered, and nothing can be added", async () => {
  const { orgIds, read, narrow, at } = await allowed(2);
  const [first = "", second = ""] = orgIds;
  const foreign = await world.organization(`org-${newId()}`, {});
  await narrow({ scopes: ["read-repos", "manage-repos"], orgIds: [first, foreign], isAllOrgs: true });
  expect(await read()).toMatchObject({
    scopes: expect.arrayContaining(["openid", "profile", "read-repos", "offline_access"]),
    declinedScopes: expect.arrayContaining(["email"]),
    orgIds: [first],
    declinedOrgIds: [second],
    isAllOrgs: false,
  });
  expect((await read()).scopes).toHaveLength(4);
  const events = await db().auditEvent.findMany({ where: { actorId: at.person.id, type: { startsWith: "oauth_consent." } } });
  expect(events.filter(({ type }) => type === "oauth_consent.narrow")).toHaveLength(1);
  expect(events.filter(({ type }) => type === "oauth_consent.revoke_organization")).toMatchObject([{ orgId: second }]);
});

test('S32 unticking one organization turns "all organizations" into a list of the others', async () => {
  const { orgIds, read, narrow, at } = await allowed(1, true);
  const later = await world.organization(`org-${newId()}`, { [at.person.id]: "read" });
  await narrow({ orgIds: [later] });
  expect(await read()).toMatchObject({ isAllOrgs: true });
  await narrow({ orgIds: [later], isAllOrgs: false });
  expect(await read()).toMatchObject({ isAllOrgs: false, orgIds: [later], declinedOrgIds: orgIds });
});

test("S30 a sign-in ends when the narrowed consent no longer covers it", async () => {
  const at = await signIn(world, {}, { scope: SCOPES.join(" ") });
  const { id, scopes } = (await readConsent(at.person.id, at.app.clientId)) ?? expect.fail("There is no consent.");
  const keep = (kept: string[]) => narrowConsent(at.session, id, { scopes: kept, orgIds: [], isAllOrgs: false }, noOrigin);
  await keep(scopes);
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  await keep(["email"]);
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(401);
});

async function allowedLess(before: string, after: string) {
  const at = await signIn(world, { isConfidential: true, scopes: [...scopes] }, { scope: before });
  await updateApp(operatorCommand, at.app.id, { name: "Another Lantern" }, noOrigin);
  await expect.poll(async () => (await findClientMetadata(at.app.clientId))?.client_name).toBe("Another Lantern");
  const question = await openQuestion(at, { scope: after });
  expect(question.request).toMatchObject({ isChanged: true, alreadyGranted: [] });
  await resume(at, await question.allow());
  const scopesOf = async (token: string) => (await findBearer(token, { scheme: "bearer" }))?.scopes;
  return { at, scopesOf };
}

test("S30 S36 after a change of the app, a smaller consent limits earlier tokens", async () => {
  const all = "openid profile manage-repos webhooks offline_access";
  const { at, scopesOf } = await allowedLess(all, "openid profile email webhooks");
  expect(await scopesOf(at.tokens.access_token)).toEqual(["openid", "profile", "webhooks"]);
  const introspected = await asApp(world, at.app, "/oauth/introspect", { token: at.tokens.access_token });
  expect((await introspected.json()).scope).toBe("openid profile webhooks offline_access");
  // Clients may repeat the scope of their sign-in.
  const { status, body } = await refresh(at, at.tokens.refresh_token, { scope: all });
  expect([status, body.scope]).toEqual([200, "openid profile webhooks offline_access"]);
  expect(body.id_token).toEqual(expect.any(String));
  expect(await scopesOf(body.access_token)).toEqual(["openid", "profile", "webhooks"]);

  const { id } = (await readConsent(at.person.id, at.app.clientId)) ?? expect.fail("There is no consent.");
  await narrowConsent(at.session, id, { scopes: [], orgIds: [], isAllOrgs: false }, noOrigin);
  expect(await scopesOf(body.access_token)).toBeUndefined();
});

test("S36 earlier sign-ins keep the required scopes under a new consent without openid", async () => {
  const { at, scopesOf } = await allowedLess("openid profile email read-repos offline_access", "webhooks");
  expect((await world.userinfo(at.tokens.access_token)).status).toBe(200);
  const { status, body } = await refresh(at, at.tokens.refresh_token);
  expect(status).toBe(200);
  expect(await scopesOf(body.access_token)).toEqual(["openid", "profile"]);
  expect(await (await world.userinfo(body.access_token)).json()).not.toHaveProperty("email");
});

test("S114 another user's consent gets the same response as one that does not exist", async () => {
  const { id } = await allowed(0);
  const other = await prepare(world);
  for (const each of [id, newId(), "x"]) {
    await expect(
      narrowConsent(other.session, each, { scopes: [], orgIds: [], isAllOrgs: false }, noOrigin),
    ).rejects.toMatchObject({
      code: "not_found",
    });
  }
});
