import { afterAll, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { removeMember } from "#core/accounts/organizations/members.ts";
import { setPlan } from "#core/accounts/organizations/set-plan.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { sweep } from "#core/housekeeping/sweep.ts";
import { decideApp } from "../app-policy/decide-app.ts";
import { setAppBlock, setAppPrivilege } from "../apps/app-privilege.ts";
import { bindApp, unbindApp } from "../apps/bound-apps.ts";
import { deleteApp } from "../apps/transfer-app.ts";
import { listConsents } from "../consents/list-consents.ts";
import { exchange, type Prepared, prepareExchange } from "../testing/exchange.ts";
import { startWorld } from "../testing/world.ts";
import { findBearer } from "../tokens/find-bearer.ts";
import { listTokensOfMember } from "./list-exchanges.ts";

const world = await startWorld();
afterAll(() => world.stop());

/** Introspection must agree with userinfo. */
async function isAlive({ app }: Prepared, token: string): Promise<boolean> {
  const authorization = world.basic(app.clientId, app.secret ?? "");
  const introspection = await world.post("/oauth/introspect", { token }, { authorization });
  const { active } = introspection.status === 200 ? await introspection.json() : { active: false };
  const userinfo = (await world.userinfo(token)).status === 200;
  if (introspection.status === 200) expect(userinfo).toBe(active);
  return userinfo;
}

const ends: Record<string, { end(at: Prepared): Promise<unknown>; restore?(at: Prepared): Promise<unknown> }> = {
  "removing the member": {
    end: ({ orgId, writer }) => removeMember(operatorCommand, orgId, writer.id, noOrigin),
    restore: ({ orgId, writer }) => db().membership.create({ data: { orgId, userId: writer.id, role: "write" } }),
  },
  "removing the privilege": {
    end: ({ app }) => setAppPrivilege(operatorCommand, app.id, "token-exchange", false, noOrigin),
    restore: ({ app }) => setAppPrivilege(operatorCommand, app.id, "token-exchange", true, noOrigin),
  },
  "losing the plan": {
    end: ({ orgId }) => setPlan(operatorCommand, orgId, "team", noOrigin),
    restore: ({ orgId }) => setPlan(operatorCommand, orgId, "enterprise", noOrigin),
  },
  "unbinding the app": {
    end: ({ app }) => unbindApp(operatorCommand, app.id, noOrigin),
    restore: async ({ app, orgId }) => {
      await bindApp(operatorCommand, app.id, orgId, noOrigin);
      await setAppPrivilege(operatorCommand, app.id, "token-exchange", true, noOrigin);
    },
  },
  "blocking the app": {
    end: ({ app }) => setAppBlock(operatorCommand, app.id, true, noOrigin),
    restore: ({ app }) => setAppBlock(operatorCommand, app.id, false, noOrigin),
  },
  "blocking the app in the organization": {
    end: ({ app, orgId }) => decideApp(operatorCommand, orgId, { clientId: app.clientId, decision: "blocked" }, noOrigin),
    restore: ({ app, orgId }) => decideApp(operatorCommand, orgId, { clientId: app.clientId, decision: null }, noOrigin),
  },
  "deleting the app": { end: ({ app }) => deleteApp(operatorCommand, app.id, noOrigin) },
  "disabling the person": {
    end: ({ writer }) => db().user.update({ where: { id: writer.id }, data: { disabledAt: new Date() } }),
  },
  "revoking it": {
    end: ({ app }) => revoke(app),
  },
};

let issued = "";
const revoke = async (app: Prepared["app"]) => {
  const authorization = world.basic(app.clientId, app.secret ?? "");
  expect((await world.post("/oauth/revoke", { token: issued }, { authorization })).status).toBe(200);
};

test.each(Object.keys(ends))("S95 %s ends the token at the next call", async (what) => {
  const { end, restore } = ends[what] as (typeof ends)[string];
  const at = await prepareExchange(world);
  issued = (await exchange(at, at.writer.email)).body.access_token;
  const other = (await exchange(at, at.reader.email)).body.access_token;
  expect([await isAlive(at, issued), await isAlive(at, other)]).toEqual([true, true]);
  await end(at);
  expect(await isAlive(at, issued)).toBe(false);
  const isOfOne = /member|person|revoking/.test(what);
  expect(await isAlive(at, other)).toBe(isOfOne);
  if (!restore) return;
  await restore(at);
  await expect.poll(async () => (await exchange(at, at.writer.email)).status).toBe(200);
  expect(await isAlive(at, issued)).toBe(false);
});

test("S95 a token loses each scope that its app loses", async () => {
  const at = await prepareExchange(world, { scopes: ["openid", "read-repos", "write-repos"] });
  const { access_token } = (await exchange(at, at.writer.email)).body;
  const authorization = world.basic(at.app.clientId, at.app.secret ?? "");
  const scopes = async () => [
    (await (await world.post("/oauth/introspect", { token: access_token }, { authorization })).json()).scope,
    (await findBearer(access_token, { scheme: "bearer" }))?.scopes,
    (await listTokensOfMember(at.writer.id))[0]?.scopes,
  ];
  const all = ["openid", "read-repos", "write-repos"];
  expect(await scopes()).toEqual([all.join(" "), all, all]);
  await db().oAuthApp.update({ where: { id: at.app.id }, data: { scopes: ["read-repos"] } });
  expect(await scopes()).toEqual(["read-repos", ["read-repos"], ["read-repos"]]);
});

test("a changed role applies from the next call on", async () => {
  const at = await prepareExchange(world);
  const { access_token } = (await exchange(at, at.writer.email)).body;
  const role = async () => (await (await world.userinfo(access_token)).json()).organizations[0].roleInOrg;
  expect(await role()).toBe("write");
  await db().membership.update({ where: { orgId_userId: { orgId: at.orgId, userId: at.writer.id } }, data: { role: "read" } });
  expect(await role()).toBe("read");
});

test("userinfo and the token contain only the bound organization", async () => {
  const at = await prepareExchange(world);
  await world.organization(`second-${at.orgName}`, { [at.writer.id]: "admin" });
  const { access_token } = (await exchange(at, at.writer.email)).body;
  const { organizations } = await (await world.userinfo(access_token)).json();
  expect(organizations.map(({ sub }: { sub: string }) => sub)).toEqual([at.orgId]);
});

test("a member sees which apps hold tokens for them", async () => {
  const at = await prepareExchange(world);
  const [first] = [await exchange(at, at.writer.email), await exchange(at, at.writer.email, { scope: "read-repos" })];
  expect(await listTokensOfMember(at.writer.id)).toMatchObject([
    {
      clientId: at.app.clientId,
      tokenCount: 2,
      scopes: ["read-repos"],
      organization: { name: at.orgName },
      endsAt: expect.any(Date),
    },
  ]);
  expect(await listTokensOfMember(at.reader.id)).toEqual([]);
  expect(await listConsents(at.writer.id)).toMatchObject({ total: 0, items: [] });
  issued = first.body.access_token;
  await revoke(at.app);
  expect(await listTokensOfMember(at.writer.id)).toMatchObject([{ tokenCount: 1 }]);
  await removeMember(operatorCommand, at.orgId, at.writer.id, noOrigin);
  expect(await listTokensOfMember(at.writer.id)).toEqual([]);
});

test("housekeeping deletes a Grant two hours after its end", async () => {
  const at = await prepareExchange(world);
  const { access_token } = (await exchange(at, at.writer.email)).body;
  await exchange(at, at.reader.email);
  const ofWriter = { boundOrgId: at.orgId, userId: at.writer.id };
  const { id } = await db().oAuthGrant.findFirstOrThrow({ where: ofWriter });
  await db().oAuthGrant.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 2 * 3600_000) } });
  await sweep(new AbortController().signal);
  expect(await db().oAuthGrant.findMany({ where: { boundOrgId: at.orgId }, select: { userId: true } })).toEqual([
    { userId: at.reader.id },
  ]);
  expect(await isAlive(at, access_token)).toBe(false);
});
