import type { Scope } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { appToken, exchangedToken, ownToken, someApp } from "../accounts/testing/tokens.ts";
import { disableUser } from "../accounts/users/disable-user.ts";
import { noOrigin } from "../audit/request-origin.ts";
import { hashToken, newToken } from "../crypto/token.ts";
import { db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { sweep } from "../housekeeping/sweep.ts";
import { newId } from "../ids.ts";
import { revokeReplayedGrant } from "../oauth/artifacts/adapter.ts";
import { decideHost, documentPolicies, type HostRule, setDocumentPolicy } from "../oauth/documents/hosts/document-policy.ts";
import { revokeLeakedCredentials } from "../oauth/leaks/revoke-leaked-credentials.ts";
import { revokeTokenAtOrganization } from "../oauth/leaks/revoke-token-at-organization.ts";
import { operatorCommand, type TokenHolder } from "./actor.ts";
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

const delegateFrom = async (actor: TokenHolder): Promise<string> => (await recordDelegation(db(), actor)) as string;

async function canRead(delegationId: string, ownerId: string, creatorClientId: string | null): Promise<boolean> {
  const creator = creatorClientId === null ? Prisma.sql`NULL::text` : Prisma.sql`${creatorClientId}::text`;
  const condition = delegationReads(Prisma.sql`${delegationId}::text`, Prisma.sql`${ownerId}::text`, creator);
  const [row] = await db().$queryRaw<{ reads: boolean }[]>`SELECT ${condition} AS reads`;
  return row?.reads as boolean;
}

async function canAct(delegationId: string, scope: "webhooks" | "jobs", ownerId?: string): Promise<boolean> {
  const owner = ownerId ?? (await db().delegation.findUniqueOrThrow({ where: { id: delegationId } })).userId;
  const action = scope === "jobs" ? "job.run" : "webhook.manage";
  const condition = mayAct(action, Prisma.sql`${delegationId}::text`, Prisma.sql`${owner}::text`);
  const [row] = await db().$queryRaw<{ acts: boolean }[]>`SELECT ${condition} AS acts`;
  return row?.acts as boolean;
}

test("S135 S129 a delegation may read exactly what `may` allows its token now", async () => {
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
      await ownToken(ada, scopes),
      await appToken(ada, { clientId: app, scopes: scopes, orgIds: [granted, closed, foreign] }),
      { ...(await appToken(ada, { clientId: cli, scopes: scopes, orgIds: [granted, closed] })), isFirstParty: true },
      await exchangedToken(ada, exchanging, bound, scopes),
    ];
    for (const token of holders) {
      const delegationId = await delegateFrom(token);
      const delegate = await findDelegate({ createdById: ada, delegationId, ownerKind: "user", ownerId: ada });
      if (!delegate) throw new Error("the delegation is not valid");
      for (const ownerId of owners) {
        for (const creatorClientId of [null, app, newId()]) {
          const isOrganization = ownerId !== ada && ownerId !== bob;
          const repo = {
            ...{ ownerUserId: isOrganization ? null : ownerId, ownerOrgId: isOrganization ? ownerId : null },
            ...{ repoId: newId(), isPrivate: true, isGated: false, createdById: null, createdByClientId: creatorClientId },
          };
          const expected = await db().$transaction((tx) => may(delegate, "repo.read", repo, tx));
          const found = await canRead(delegationId, ownerId, creatorClientId);
          expect({ token, ownerId, creatorClientId, found }).toEqual({ token, ownerId, creatorClientId, found: expected });
          expect(await may(delegate, "repo.read", repo)).toBe(expected);
          if (expected) readable++;
          else hidden++;
        }
      }
    }
    await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  }
  expect([readable > 60, hidden > 60]).toEqual([true, true]);
});

test("S114 a delegation ends for good with its consent, even if the user allows the app again", async () => {
  const [ada, bob] = [await someUser(), await someUser()];
  const app = await someApp();
  const [one, theirs] = [
    await delegateFrom(await appToken(ada, { clientId: app, scopes: ["webhooks"] })),
    await delegateFrom(await appToken(bob, { clientId: app, scopes: ["webhooks"] })),
  ];
  expect([await canAct(one, "webhooks"), await canAct(one, "jobs")]).toEqual([true, false]);
  await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  expect([await canAct(one, "webhooks"), await canAct(theirs, "webhooks")]).toEqual([false, true]);
  expect(await findDelegate({ createdById: ada, delegationId: one, ownerKind: "user", ownerId: ada })).toBeUndefined();
  const again = await appToken(ada, { clientId: app, scopes: ["webhooks"] });
  expect([await canAct(one, "webhooks"), await canAct(await delegateFrom(again), "webhooks")]).toEqual([false, true]);
});

test("a delegation gives only access that the token had and that the consent still grants", async () => {
  const ada = await someUser();
  const [first, second] = [await someOrganization(ada), await someOrganization(ada)];
  const app = await someApp();
  const token = await appToken(ada, { clientId: app, scopes: ["webhooks", "read-repos"], orgIds: [first] });
  const id = await delegateFrom(token);
  const consent = { where: { userId: ada, clientId: app } };
  const reach = async () => [await canRead(id, ada, null), await canRead(id, first, null), await canRead(id, second, null)];
  expect(await reach()).toEqual([true, true, false]);
  // A consent that is widened later does not widen an existing delegation (S48).
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: true } });
  expect(await reach()).toEqual([true, true, false]);
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: false, orgIds: [] } });
  expect(await reach()).toEqual([true, false, false]);
  await db().oAuthConsent.updateMany({ ...consent, data: { scopes: ["webhooks"] } });
  expect(await reach()).toEqual([false, false, false]);
  expect(await canAct(id, "webhooks")).toBe(true);
  await db().oAuthConsent.updateMany({ ...consent, data: { scopes: ["read-repos"] } });
  expect(await canAct(id, "webhooks")).toBe(false);
});

test("a delegation for all organizations is limited to the organizations that the consent names now", async () => {
  const ada = await someUser();
  const [first, second] = [await someOrganization(ada), await someOrganization(ada)];
  const token = await appToken(ada, { scopes: ["webhooks", "read-repos"] });
  const consent = { where: { userId: ada, clientId: token.clientId } };
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: true } });
  const id = await delegateFrom({ ...token, orgIds: "all" });
  const reach = async () => [await canRead(id, first, null), await canRead(id, second, null)];
  expect(await reach()).toEqual([true, true]);
  await db().oAuthConsent.updateMany({ ...consent, data: { isAllOrgs: false, orgIds: [second] } });
  expect(await reach()).toEqual([false, true]);
  const delegate = await findDelegate({ createdById: ada, delegationId: id, ownerKind: "user", ownerId: ada });
  expect(delegate).toMatchObject({ orgIds: [second] });
});

test("a delegation stops acting as soon as its app, token or user is blocked or the membership ends", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada);
  const app = await someApp();
  const token = await appToken(ada, { clientId: app, scopes: ["webhooks", "read-repos"], orgIds: [org] });
  const id = await delegateFrom(token);
  const state = async () => [await canAct(id, "webhooks"), await canRead(id, org, null), await canRead(id, ada, null)];
  const open = [true, true, true];
  expect(await state()).toEqual(open);
  await db().organizationApp.create({ data: { orgId: org, clientId: app, decision: "blocked" } });
  expect(await state()).toEqual([true, false, true]);
  await db().organizationApp.deleteMany({ where: { orgId: org } });
  await db().organizationRevokedToken.create({ data: { orgId: org, tokenId: token.tokenId, userId: ada } });
  expect(await state()).toEqual([true, false, true]);
  await db().organizationRevokedToken.deleteMany({ where: { orgId: org } });
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

test("S32 a delegation for all organizations has no access to a repository whose organization blocks the app", async () => {
  const ada = await someUser();
  const [org, other] = [await someOrganization(ada), await someOrganization(ada)];
  const app = await someApp();
  const token = await appToken(ada, { clientId: app, scopes: ["contribute-repos"] });
  await db().oAuthConsent.updateMany({ where: { userId: ada, clientId: app }, data: { isAllOrgs: true } });
  const id = await delegateFrom({ ...token, orgIds: "all" });
  const allowed = async (ownerOrgId: string) => {
    const found = await findDelegate({ createdById: ada, delegationId: id, ownerKind: "user", ownerId: ada });
    const made = { repoId: newId(), isPrivate: true, isGated: false, createdById: ada, createdByClientId: app };
    const repo = { ...made, ownerUserId: null, ownerOrgId };
    const inTransaction = db().$transaction((tx) => may(found ?? expect.fail("It has ended."), "repo.read", repo, tx));
    return [await may(found ?? expect.fail("It has ended."), "repo.write", repo), await inTransaction];
  };
  expect(await allowed(org)).toEqual([true, true]);
  await db().organizationApp.create({ data: { orgId: org, clientId: app, decision: "blocked" } });
  expect([await allowed(org), await allowed(other)]).toEqual([
    [false, false],
    [true, true],
  ]);
});

test("S95 S112 an exchanged token's delegation ends for good when a requirement of token exchange is no longer met", async () => {
  const endings: [string, (org: string, clientId: string, userId: string) => Promise<unknown>][] = [
    ["membership", (orgId, _, userId) => db().membership.deleteMany({ where: { orgId, userId } })],
    ["privilege", (_, clientId) => db().oAuthApp.update({ where: { clientId }, data: { privileges: [] } })],
    ["binding", (_, clientId) => db().oAuthApp.update({ where: { clientId }, data: { boundOrgId: null } })],
    ["plan", (id) => db().organization.update({ where: { id }, data: { plan: "team" } })],
    ["account", (_org, _clientId, userId) => disableUser(operatorCommand, userId, noOrigin)],
    ["block", (orgId, clientId) => db().organizationApp.create({ data: { orgId, clientId, decision: "blocked" } })],
  ];
  for (const [what, end] of endings) {
    const ada = await someUser();
    const org = await someOrganization(ada, { plan: "enterprise" });
    const clientId = await someApp({ boundOrgId: org, privileges: ["token-exchange"] });
    const scopes: Scope[] = ["webhooks", "read-repos"];
    const id = await delegateFrom(await exchangedToken(ada, clientId, org, scopes));
    expect([what, await canAct(id, "webhooks", org), await canRead(id, org, null)]).toEqual([what, true, true]);
    await end(org, clientId, ada);
    expect([what, await canAct(id, "webhooks", org)]).toEqual([what, false]);
    expect([what, (await db().delegation.findUnique({ where: { id } }))?.endedAt === null]).toEqual([what, false]);
  }
});

test("S95 a delegation of an exchanged token has no scope that its app has lost", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada, { plan: "enterprise" });
  const clientId = await someApp({ boundOrgId: org, privileges: ["token-exchange"] });
  const id = await delegateFrom(await exchangedToken(ada, clientId, org, ["webhooks", "read-repos"]));
  const state = async () => [await canAct(id, "webhooks", org), await canRead(id, org, null)];
  expect(await state()).toEqual([true, true]);
  await db().oAuthApp.update({ where: { clientId }, data: { scopes: ["webhooks"] } });
  expect(await state()).toEqual([true, false]);
  await db().oAuthApp.update({ where: { clientId }, data: { scopes: ["read-repos"] } });
  expect(await canAct(id, "webhooks", org)).toBe(false);
});

test("the delegation of a personal access token survives the token's expiry but not its revocation", async () => {
  const ada = await someUser();
  const token = await ownToken(ada, ["webhooks"]);
  const id = await delegateFrom(token);
  await db().personalAccessToken.update({ where: { id: token.tokenId }, data: { expiresAt: new Date(0) } });
  expect(await canAct(id, "webhooks")).toBe(true);
  await db().personalAccessToken.update({ where: { id: token.tokenId }, data: { revokedAt: new Date() } });
  expect(await canAct(id, "webhooks")).toBe(false);
  const stolen = await appToken(ada, { clientId: await someApp(), scopes: ["webhooks"] });
  const made = await delegateFrom(stolen);
  await endDelegationsOf(db(), [stolen.tokenId]);
  expect(await canAct(made, "webhooks")).toBe(false);
});

test("a request whose token was revoked in the meantime cannot record a delegation", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada, { plan: "enterprise" });
  const clientId = await someApp({ boundOrgId: org, privileges: ["token-exchange"] });
  const [own, app] = [await ownToken(ada, ["webhooks"]), await appToken(ada, { scopes: ["webhooks"] })];
  const exchanged = await exchangedToken(ada, clientId, org, ["webhooks"]);
  for (const token of [own, app, exchanged]) await delegateFrom(token);
  const revoked = { revokedAt: new Date() };
  await db().personalAccessToken.update({ where: { id: own.tokenId }, data: revoked });
  await db().oAuthGrant.update({ where: { id: app.tokenId }, data: revoked });
  await db().oAuthGrant.update({ where: { id: exchanged.tokenId }, data: revoked });
  for (const token of [own, app, exchanged]) await expect(delegateFrom(token)).rejects.toMatchObject({ code: "unauthorized" });
  const gone = await ownToken(ada, ["webhooks"]);
  const id = await delegateFrom(gone);
  await db().personalAccessToken.delete({ where: { id: gone.tokenId } });
  expect(await canAct(id, "webhooks")).toBe(false);
});

test("a delegation stops acting for an organization when its user is demoted or removed or its token is blocked", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada);
  const token = await ownToken(ada, ["webhooks", "jobs"]);
  const id = await delegateFrom(token);
  const state = async () => [await canAct(id, "webhooks", org), await canAct(id, "jobs", org), await canAct(id, "webhooks")];
  expect(await state()).toEqual([true, true, true]);
  const membership = { where: { orgId: org, userId: ada } };
  await db().membership.updateMany({ ...membership, data: { role: "write" } });
  expect(await state()).toEqual([false, true, true]);
  await db().membership.updateMany({ ...membership, data: { role: "admin" } });
  await db().organizationRevokedToken.create({ data: { orgId: org, tokenId: token.tokenId, userId: ada } });
  expect(await state()).toEqual([false, false, true]);
  await db().organizationRevokedToken.deleteMany({ where: { orgId: org } });
  await db().membership.deleteMany(membership);
  expect(await state()).toEqual([false, false, true]);
});

test("S87 the delegation of an app with a metadata document acts only while host rules allow the app", async () => {
  const ada = await someUser();
  const hosts = ["kite.example", "a.kite.example", "b.a.kite.example", "kites.example", "xkite.example", "[::1]", "a_b.example"];
  const clients = hosts.flatMap((host) => [`https://${host}/app.json`, `https://${host}:8443/x`]);
  const lent = new Map<string, string>();
  for (const clientId of clients) lent.set(clientId, await delegateFrom(await appToken(ada, { clientId, scopes: ["webhooks"] })));
  const rules: HostRule[] = [
    { host: "kite.example", rule: "block" },
    { host: "a.kite.example", rule: "allow" },
    { host: "axb.example", rule: "block" },
    { host: "[::1]", rule: "allow" },
  ];
  for (const policy of documentPolicies) {
    for (const some of [[], rules.slice(0, 1), rules]) {
      await db().oAuthClientHost.deleteMany();
      await db().oAuthClientHost.createMany({ data: some });
      await setDocumentPolicy(operatorCommand, policy, noOrigin);
      for (const [clientId, id] of lent) {
        const { isAllowed } = decideHost(new URL(clientId).hostname, some, policy);
        expect({ policy, clientId, some, acts: await canAct(id, "webhooks") }).toEqual({
          policy,
          clientId,
          some,
          acts: isAllowed,
        });
      }
    }
  }
  await db().oAuthClientHost.deleteMany();
  await setDocumentPolicy(operatorCommand, "open", noOrigin);
});

test("S114 a user can revoke a consent while many requests delegate its rights", async () => {
  const ada = await someUser();
  const token = await appToken(ada, { scopes: ["webhooks"] });
  let [begun, isOver] = [0, false];
  const flood = async () => {
    while (!isOver && begun < 400) {
      begun++;
      await db().$transaction(async (tx) => {
        await recordDelegation(tx, token);
        await tx.$executeRaw`SELECT pg_sleep(0.02)`;
      });
    }
  };
  const streams = Array.from({ length: 6 }, () => flood().catch((error: unknown) => error));
  await expect.poll(() => begun).toBeGreaterThan(12);
  const before = begun;
  await db().$transaction([
    db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } }),
    db().oAuthGrant.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } }),
  ]);
  const passed = begun - before;
  isOver = true;
  await Promise.all(streams);
  expect(passed).toBeLessThan(20);
});

test("delegations of one token with the same rights are one row, described by the name of the app or token", async () => {
  const ada = await someUser();
  const app = await someApp();
  const token = await appToken(ada, { clientId: app, scopes: ["webhooks", "jobs"] });
  const id = await delegateFrom(token);
  expect(await delegateFrom({ ...token, scopes: ["jobs", "webhooks"] })).toBe(id);
  expect(await delegateFrom({ ...token, scopes: ["jobs"] })).not.toBe(id);
  const personal = await delegateFrom(await ownToken(ada, ["jobs"]));
  const described = await describeDelegations([id, personal, null, newId()]);
  expect([...described.values()].map(({ id: _, ...each }) => each)).toEqual(
    expect.arrayContaining([
      { kind: "app", isOwnProgram: false, clientId: app, name: "Night Ferry", isEnded: false },
      { kind: "token", isOwnProgram: true, clientId: null, name: "laptop", isEnded: false },
    ]),
  );
  await db().oAuthConsent.updateMany({ where: { userId: ada }, data: { revokedAt: new Date() } });
  expect((await describeDelegations([id])).get(id)).toMatchObject({ isEnded: true });
  await expect(delegateFrom(token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await recordDelegation(db(), { kind: "anonymous" })).toBeNull();
});

test("S43 S47 a replay, leak report or block ends the delegation of a thief who signed out first", async () => {
  const ada = await someUser();
  const org = await someOrganization(ada, { plan: "enterprise" });
  const clientId = await someApp({ boundOrgId: org, privileges: ["token-exchange"] });
  const stolen = await appToken(ada, { scopes: ["webhooks"] });
  const [replayed, leaked] = [await delegateFrom(stolen), await delegateFrom(await appToken(ada, { scopes: ["webhooks"] }))];
  const exchanged = await exchangedToken(ada, clientId, org, ["webhooks"]);
  const cut = await delegateFrom(exchanged);
  await db().oAuthGrant.update({ where: { id: stolen.tokenId }, data: { revokedAt: new Date() } });
  expect(await canAct(replayed, "webhooks")).toBe(true);
  await revokeReplayedGrant("code", stolen.tokenId, noOrigin);
  expect(await canAct(replayed, "webhooks")).toBe(false);

  const { tokenId } = await db().delegation.findUniqueOrThrow({ where: { id: leaked } });
  const token = newToken("kh_oauth_");
  const over = { grantId: tokenId, payload: {}, expiresAt: new Date(0), model: "AccessToken", idHash: hashToken(token) };
  await db().oAuthArtifact.create({ data: over });
  await db().oAuthGrant.update({ where: { id: tokenId }, data: { revokedAt: new Date() } });
  await revokeLeakedCredentials([token], { ...noOrigin, ip: "192.0.2.77" });
  expect(await canAct(leaked, "webhooks")).toBe(false);

  await db().oAuthGrant.update({ where: { id: exchanged.tokenId }, data: { revokedAt: new Date(), expiresAt: new Date(0) } });
  const consented = await appToken(ada, { scopes: ["read-repos"], orgIds: [org] });
  const away = await delegateFrom(consented);
  await db().oAuthGrant.update({ where: { id: consented.tokenId }, data: { revokedAt: new Date() } });
  await sweep(new AbortController().signal);
  expect(await canRead(away, org, null)).toBe(true);
  await revokeTokenAtOrganization(operatorCommand, org, { tokenId: consented.tokenId }, noOrigin);
  expect([await canRead(away, org, null), await canRead(away, ada, null)]).toEqual([false, true]);
  expect(await canAct(cut, "webhooks", org)).toBe(true);
  await revokeTokenAtOrganization(operatorCommand, org, { tokenId: exchanged.tokenId }, noOrigin);
  expect(await canAct(cut, "webhooks", org)).toBe(false);
});
