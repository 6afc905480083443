import type { Scope } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { newId } from "../ids.ts";
import type { TokenHolder } from "./actor.ts";
import { delegationReads, describeDelegations, endDelegationsOf, findDelegate, mayAct, recordDelegation } from "./delegation.ts";
import { may } from "./may.ts";

async function someUser(): Promise<string> {
  const id = newId();
  const email = `${id}@example.test`;
  await db().user.create({ data: { id, username: id, fullName: id, email, emailCanonical: email } });
  return id;
}

async function someOrganization(userId: string, data: { appPolicy?: string; plan?: string } = {}): Promise<string> {
  const id = newId();
  await db().organization.create({ data: { id, name: id, fullName: id, ...data } });
  await db().membership.create({ data: { orgId: id, userId, role: "admin" } });
  return id;
}

async function someApp(data: { isFirstParty?: boolean; boundOrgId?: string; privileges?: string[] } = {}): Promise<string> {
  const [id, clientId] = [newId(), newId()];
  await db().oAuthApp.create({
    data: { id, clientId, name: "Night Ferry", redirectUris: [], postLogoutRedirectUris: [], scopes: [], ...data },
  });
  return clientId;
}

/** A person's consent to an app, as the permissions modal stores it, and a token under it. */
async function appToken(userId: string, clientId: string, scopes: readonly Scope[], orgIds: string[]): Promise<TokenHolder> {
  const consent = { id: newId(), userId, clientId, scopes: [...scopes], orgIds, clientFingerprint: "x" };
  await db().oAuthConsent.create({ data: consent });
  return { kind: "token", userId, tokenId: newId(), scopes, orgIds, clientId };
}

async function personalToken(userId: string, scopes: Scope[]): Promise<TokenHolder> {
  const id = newId();
  await db().personalAccessToken.create({ data: { id, userId, name: "laptop", tokenHash: id, last4: "1234", scopes } });
  return { kind: "token", userId, tokenId: id, scopes, orgIds: "all", clientId: null };
}

const lend = async (actor: TokenHolder): Promise<string> => (await recordDelegation(db(), actor)) as string;

async function reads(delegationId: string, ownerId: string, makerClientId: string | null): Promise<boolean> {
  const maker = makerClientId === null ? Prisma.sql`NULL::text` : Prisma.sql`${makerClientId}::text`;
  const condition = delegationReads(Prisma.sql`${delegationId}::text`, Prisma.sql`${ownerId}::text`, maker);
  const [row] = await db().$queryRaw<{ reads: boolean }[]>`SELECT ${condition} AS reads`;
  return row?.reads as boolean;
}

async function acts(delegationId: string, scope: "webhooks" | "jobs"): Promise<boolean> {
  const [row] = await db().$queryRaw<{ acts: boolean }[]>`SELECT ${mayAct(Prisma.sql`${delegationId}::text`, scope)} AS acts`;
  return row?.acts as boolean;
}

test("S135 S129 a delegation reads what `may` says that its token reads now: every kind of token, owner, scope and maker", async () => {
  const [ada, bob] = [await someUser(), await someUser()];
  const [granted, other, closed] = [
    await someOrganization(ada),
    await someOrganization(ada),
    await someOrganization(ada, { appPolicy: "none" }),
  ];
  const foreign = await someOrganization(bob);
  const bound = await someOrganization(ada, { plan: "enterprise" });
  const [app, cli] = [await someApp(), await someApp({ isFirstParty: true })];
  const exchanging = await someApp({ boundOrgId: bound, privileges: ["token-exchange"] });
  const scopeSets: Scope[][] = [
    [],
    ["read-repos"],
    ["write-repos"],
    ["manage-repos"],
    ["contribute-repos"],
    ["gated-repos", "jobs"],
  ];
  const owners = [ada, bob, granted, other, closed, foreign, bound];
  let [readable, hidden] = [0, 0];
  for (const held of scopeSets) {
    const scopes: Scope[] = ["webhooks", ...held];
    const holders: TokenHolder[] = [
      await personalToken(ada, scopes),
      await appToken(ada, app, scopes, [granted, closed, foreign]),
      { ...(await appToken(ada, cli, scopes, [granted, closed])), isFirstParty: true },
      { kind: "token", userId: ada, tokenId: newId(), scopes, orgIds: [bound], clientId: exchanging, boundOrgId: bound },
    ];
    for (const token of holders) {
      const delegationId = await lend(token);
      const delegate = await findDelegate({ createdById: ada, delegationId });
      if (!delegate) throw new Error("the delegation does not hold");
      for (const ownerId of owners) {
        for (const makerClientId of [null, app, newId()]) {
          const isOrganization = ownerId !== ada && ownerId !== bob;
          const repo = {
            ...{ ownerUserId: isOrganization ? null : ownerId, ownerOrgId: isOrganization ? ownerId : null },
            ...{ repoId: newId(), isPrivate: true, isGated: false, createdById: null, createdByClientId: makerClientId },
          };
          // In a transaction where people stand is asked anew.
          const expected = await db().$transaction((tx) => may(delegate, "repo.read", repo, tx));
          const found = await reads(delegationId, ownerId, makerClientId);
          expect({ token, ownerId, makerClientId, found }).toEqual({ token, ownerId, makerClientId, found: expected });
          expect(await may(delegate, "repo.read", repo)).toBe(expected);
          if (expected) readable++;
          else hidden++;
        }
      }
    }
    // One consent for each app and person: the next round makes another.
    await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  }
  expect([readable > 60, hidden > 60]).toEqual([true, true]);
});

test("S114 a delegation ends for good with its consent, whatever is allowed anew; another person's goes on", async () => {
  const [ada, bob] = [await someUser(), await someUser()];
  const app = await someApp();
  const [one, theirs] = [
    await lend(await appToken(ada, app, ["webhooks"], [])),
    await lend(await appToken(bob, app, ["webhooks"], [])),
  ];
  expect([await acts(one, "webhooks"), await acts(one, "jobs")]).toEqual([true, false]);
  await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  expect([await acts(one, "webhooks"), await acts(theirs, "webhooks")]).toEqual([false, true]);
  expect(await findDelegate({ createdById: ada, delegationId: one })).toBeUndefined();
  const again = await appToken(ada, app, ["webhooks"], []);
  expect([await acts(one, "webhooks"), await acts(await lend(again), "webhooks")]).toEqual([false, true]);
});

test("a delegation reaches no more than the token had, and no more than the consent grants now", async () => {
  const ada = await someUser();
  const [first, second] = [await someOrganization(ada), await someOrganization(ada)];
  const app = await someApp();
  const token = await appToken(ada, app, ["webhooks", "read-repos"], [first]);
  const id = await lend(token);
  const consent = { where: { userId: ada, clientId: app } };
  const reach = async () => [await reads(id, ada, null), await reads(id, first, null), await reads(id, second, null)];
  expect(await reach()).toEqual([true, true, false]);
  // Widened later: what was made before keeps its bounds (S48).
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: true } });
  expect(await reach()).toEqual([true, true, false]);
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: false, orgIds: [] } });
  expect(await reach()).toEqual([true, false, false]);
  await db().oAuthConsent.updateMany({ ...consent, data: { scopes: ["webhooks"] } });
  expect(await reach()).toEqual([false, false, false]);
  expect(await acts(id, "webhooks")).toBe(true);
  await db().oAuthConsent.updateMany({ ...consent, data: { scopes: ["read-repos"] } });
  expect(await acts(id, "webhooks")).toBe(false);
});

test("app policy, a blocked app, a disabled person, a lost membership and a cut-off token each close it at once", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada);
  const app = await someApp();
  const token = await appToken(ada, app, ["webhooks", "read-repos"], [org]);
  const id = await lend(token);
  const state = async () => [await acts(id, "webhooks"), await reads(id, org, null), await reads(id, ada, null)];
  const open = [true, true, true];
  expect(await state()).toEqual(open);
  await db().organizationApp.create({ data: { orgId: org, clientId: app, decision: "blocked" } });
  expect(await state()).toEqual([true, false, true]);
  await db().organizationApp.deleteMany({ where: { orgId: org } });
  await db().organizationRevokedToken.create({ data: { orgId: org, tokenId: token.tokenId, userId: ada } });
  expect(await state()).toEqual([true, false, true]);
  await db().organizationRevokedToken.deleteMany({ where: { orgId: org } });
  await db().organization.update({ where: { id: org }, data: { requiresSecondStep: true } });
  expect(await state()).toEqual([true, false, true]);
  await db().organization.update({ where: { id: org }, data: { requiresSecondStep: false } });
  expect(await state()).toEqual(open);
  await db().oAuthApp.update({ where: { clientId: app }, data: { blockedAt: new Date() } });
  expect(await state()).toEqual([false, false, false]);
  await db().oAuthApp.update({ where: { clientId: app }, data: { blockedAt: null } });
  await db().user.update({ where: { id: ada }, data: { disabledAt: new Date() } });
  expect(await state()).toEqual([false, false, false]);
  await db().user.update({ where: { id: ada }, data: { disabledAt: null } });
  await db().membership.deleteMany({ where: { orgId: org } });
  expect(await state()).toEqual([true, false, true]);
});

test("S95 what an exchanged token made ends for good with membership, privilege, binding, plan and a block", async () => {
  const endings: [string, (org: string, clientId: string, userId: string) => Promise<unknown>][] = [
    ["membership", (orgId, _, userId) => db().membership.deleteMany({ where: { orgId, userId } })],
    ["privilege", (_, clientId) => db().oAuthApp.update({ where: { clientId }, data: { privileges: [] } })],
    ["binding", (_, clientId) => db().oAuthApp.update({ where: { clientId }, data: { boundOrgId: null } })],
    ["plan", (id) => db().organization.update({ where: { id }, data: { plan: "team" } })],
    ["block", (orgId, clientId) => db().organizationApp.create({ data: { orgId, clientId, decision: "blocked" } })],
  ];
  for (const [what, end] of endings) {
    const ada = await someUser();
    const org = await someOrganization(ada, { plan: "enterprise" });
    const clientId = await someApp({ boundOrgId: org, privileges: ["token-exchange"] });
    const scopes: Scope[] = ["webhooks", "read-repos"];
    const id = await lend({ kind: "token", userId: ada, tokenId: newId(), scopes, orgIds: [org], clientId, boundOrgId: org });
    expect([what, await acts(id, "webhooks"), await reads(id, org, null)]).toEqual([what, true, true]);
    await end(org, clientId, ada);
    expect([what, await acts(id, "webhooks")]).toEqual([what, false]);
    expect([what, (await db().delegation.findUnique({ where: { id } }))?.endedAt === null]).toEqual([what, false]);
  }
});

test("a personal token's ends when it is revoked, and not when it merely expires; a stolen token's when that is found out", async () => {
  const ada = await someUser();
  const token = await personalToken(ada, ["webhooks"]);
  const id = await lend(token);
  await db().personalAccessToken.update({ where: { id: token.tokenId }, data: { expiresAt: new Date(0) } });
  expect(await acts(id, "webhooks")).toBe(true);
  await db().personalAccessToken.update({ where: { id: token.tokenId }, data: { revokedAt: new Date() } });
  expect(await acts(id, "webhooks")).toBe(false);
  const stolen = await appToken(ada, await someApp(), ["webhooks"], []);
  const made = await lend(stolen);
  await endDelegationsOf(db(), [stolen.tokenId]);
  expect(await acts(made, "webhooks")).toBe(false);
});

test("one token lends the same rights with one row; it says which app or token it was", async () => {
  const ada = await someUser();
  const app = await someApp();
  const token = await appToken(ada, app, ["webhooks", "jobs"], []);
  const id = await lend(token);
  expect(await lend({ ...token, scopes: ["jobs", "webhooks"] })).toBe(id);
  expect(await lend({ ...token, scopes: ["jobs"] })).not.toBe(id);
  const personal = await lend(await personalToken(ada, ["jobs"]));
  const described = await describeDelegations([id, personal, null, newId()]);
  expect([...described.values()].map(({ id: _, ...each }) => each)).toEqual(
    expect.arrayContaining([
      { kind: "app", clientId: app, name: "Night Ferry", isEnded: false },
      { kind: "token", clientId: null, name: "laptop", isEnded: false },
    ]),
  );
  await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  expect((await describeDelegations([id])).get(id)).toMatchObject({ isEnded: true });
  // Revoked while the request was under way.
  await expect(lend(token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await recordDelegation(db(), { kind: "anonymous" })).toBeNull();
});
