import { beforeAll, describe, expect, test } from "vitest";
import type { Person } from "../../access/actor.ts";
import { operatorCommand } from "../../access/actor.ts";
import { removeMember } from "../../accounts/organizations/members.ts";
import { emailsTo } from "../../accounts/testing/people.ts";
import { deleteUser } from "../../accounts/users/delete-user.ts";
import { disableUser } from "../../accounts/users/disable-user.ts";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { auditOf, longSignedIn, organizationWith, settings, someApp, someone } from "../testing/apps.ts";
import { clientKeyPair } from "../testing/assertion.ts";
import { setKeys } from "./app-keys.ts";
import { requestPrivilege, setAppPrivilege } from "./app-privilege.ts";
import { addSecret, rotateSecret } from "./app-secrets.ts";
import { bindApp, listBindable, setTokenDuration, unbindApp } from "./bound-apps.ts";
import { createApp } from "./create-app.ts";
import { getApp } from "./get-app.ts";
import { listApps } from "./list-apps.ts";
import { deleteApp, transferApp } from "./transfer-app.ts";
import { updateApp } from "./update-app.ts";

let operator: Person;
beforeAll(async () => {
  operator = await someone({ isOperator: true });
});

const notFound = { code: "not_found" };
const read = (id: string) => db().oAuthApp.findUniqueOrThrow({ where: { id } });

async function scene() {
  const [owner, admin, member, stranger] = await Promise.all([someone(), someone(), someone(), someone()]);
  const orgId = await organizationWith({ [owner.userId]: "admin", [admin.userId]: "admin", [member.userId]: "write" });
  const { app } = await someApp(owner, { isConfidential: true });
  return { owner, admin, member, stranger, orgId, app };
}

test("S136 a hidden app and a missing app take the same number of statements", async () => {
  const { owner, admin, member, stranger, orgId, app } = await scene();
  const elsewhere = await organizationWith({ [admin.userId]: "admin" });
  const { app: theirs } = await createApp(admin, settings({ owner: { orgId: elsewhere } }), noOrigin);
  const { app: bound } = await someApp(owner);
  await bindApp(owner, bound.id, orgId, noOrigin);
  const operations = [
    (id: string) => getApp(member, id),
    (id: string) => getApp(stranger, id),
    (id: string) => updateApp(stranger, id, { name: "Kite" }, noOrigin),
    (id: string) => rotateSecret(stranger, id, {}, noOrigin),
  ];
  for (const operation of operations) {
    const statements = [];
    for (const id of [newId(), app.id, theirs.id, bound.id]) {
      const refused = async () => expect(operation(id)).rejects.toMatchObject(notFound);
      statements.push((await countStatements(refused)).statements);
    }
    expect(new Set(statements).size, String(statements)).toBe(1);
  }
});

describe("binding an app", () => {
  test("needs the right to manage the app, the role of an administrator, and a recent sign-in (S113)", async () => {
    const { owner, admin, member, stranger, orgId, app } = await scene();
    for (const person of [admin, member, stranger]) {
      await expect(bindApp(person, app.id, orgId, noOrigin)).rejects.toMatchObject(notFound);
    }
    const elsewhere = await organizationWith({ [admin.userId]: "admin", [owner.userId]: "write" });
    await expect(bindApp(owner, app.id, elsewhere, noOrigin)).rejects.toMatchObject(notFound);
    for (const id of [newId(), "\0", "x"]) await expect(bindApp(owner, app.id, id, noOrigin)).rejects.toMatchObject(notFound);
    await expect(bindApp(longSignedIn(owner), app.id, orgId, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await bindApp(owner, app.id, orgId, noOrigin);
    expect(await read(app.id)).toMatchObject({ boundOrgId: orgId, privileges: [] });
    expect((await auditOf(app.clientId)).at(-1)).toMatchObject({ type: "oauth_app.bind", orgId, actorId: owner.userId });
    const second = await organizationWith({ [owner.userId]: "admin" });
    await expect(bindApp(owner, app.id, second, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  });

  test("is possible for an organization's app only to that organization", async () => {
    const { owner, orgId } = await scene();
    const { app } = await createApp(owner, settings({ owner: { orgId }, isBound: true, redirectUris: [] }), noOrigin);
    expect(app).toMatchObject({ boundOrgId: orgId, redirectUris: [] });
    const other = await organizationWith({ [owner.userId]: "admin" });
    const { app: unbound } = await createApp(owner, settings({ owner: { orgId } }), noOrigin);
    await expect(bindApp(owner, unbound.id, other, noOrigin)).rejects.toMatchObject({ field: "orgId" });
    expect((await listBindable(owner, unbound)).map(({ id }) => id)).toEqual([orgId]);
    expect(await listBindable(owner, app)).toEqual([]);
    const ofPerson = settings({ owner: { userId: owner.userId }, isBound: true });
    await expect(createApp(owner, ofPerson, noOrigin)).rejects.toMatchObject({ field: "isBound" });
    await expect(createApp(owner, settings({ owner: { orgId }, redirectUris: [] }), noOrigin)).rejects.toMatchObject({
      field: "redirectUris",
    });
  });

  test("can be undone by the owner or any administrator, and the app then loses privilege and token duration", async () => {
    for (const by of ["owner", "admin"] as const) {
      const at = await scene();
      await bindApp(at.owner, at.app.id, at.orgId, noOrigin);
      await setAppPrivilege(operator, at.app.id, "token-exchange", true, noOrigin);
      await setTokenDuration(at.admin, at.app.id, 7200, noOrigin);
      for (const person of [at.member, at.stranger]) {
        await expect(unbindApp(person, at.app.id, noOrigin)).rejects.toMatchObject(notFound);
      }
      await unbindApp(at[by], at.app.id, noOrigin);
      expect(await read(at.app.id)).toMatchObject({ boundOrgId: null, privileges: [], accessTokenSeconds: null });
      await expect(unbindApp(at.owner, at.app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    }
  });

  test("ends when the organization is deleted", async () => {
    const { owner, orgId, app } = await scene();
    await bindApp(owner, app.id, orgId, noOrigin);
    await setAppPrivilege(operator, app.id, "token-exchange", true, noOrigin);
    await db().organization.delete({ where: { id: orgId } });
    expect(await read(app.id)).toMatchObject({ boundOrgId: null, privileges: [] });
  });
});

describe("the administrators of the organization to which an app is bound", () => {
  test("S113 decide about the secret, even if somebody else owns the app", async () => {
    const { owner, admin, member, stranger, orgId, app } = await scene();
    await bindApp(owner, app.id, orgId, noOrigin);
    expect((await rotateSecret(admin, app.id, {}, noOrigin)).secret).toMatch(/^kh_secret_/);
    expect((await auditOf(app.clientId)).at(-1)).toMatchObject({ type: "oauth_app.secret_rotate", orgId, actorId: admin.userId });
    await expect(rotateSecret(longSignedIn(admin), app.id, {}, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    for (const person of [member, stranger]) {
      await expect(rotateSecret(person, app.id, {}, noOrigin)).rejects.toMatchObject(notFound);
    }
    await db().membership.delete({ where: { orgId_userId: { orgId, userId: owner.userId } } });
    for (const change of [
      () => rotateSecret(owner, app.id, {}, noOrigin),
      () => addSecret(owner, app.id, noOrigin),
      () => setTokenDuration(owner, app.id, 7200, noOrigin),
      () => requestPrivilege(owner, app.id, noOrigin),
      () => updateApp(owner, app.id, { scopes: ["openid", "manage-repos"] }, noOrigin),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "forbidden", message: /administrators decide/ });
    }
    await expect(updateApp(owner, app.id, { name: "Lantern", scopes: ["openid", "jobs"] }, noOrigin)).rejects.toMatchObject(
      notFound,
    );
    expect((await updateApp(owner, app.id, { name: "Lantern" }, noOrigin)).name).toBe("Lantern");
    expect(await getApp(owner, app.id)).toMatchObject({ isOwner: true, mayManageAccess: false });
  });

  test.each([
    ["is removed", (by: Person, orgId: string, { userId }: Person) => removeMember(by, orgId, userId, noOrigin)],
    ["is disabled", (_by: Person, _orgId: string, maker: Person) => disableUser(operatorCommand, maker.userId, noOrigin)],
    ["deletes the account", (_by: Person, _orgId: string, maker: Person) => deleteUser(maker, maker.userId, noOrigin)],
  ])("S116 get an email if an administrator who knew a valid secret or set keys %s", async (_, end) => {
    const [maker, admin] = await Promise.all([someone(), someone()]);
    const orgId = await organizationWith({ [maker.userId]: "admin", [admin.userId]: "admin" });
    const { email } = await db().user.update({ where: { id: admin.userId }, data: { emailVerifiedAt: new Date() } });
    const own = settings({ owner: { orgId }, isBound: true, isConfidential: true });
    const [created, rotated, replaced] = [
      (await createApp(maker, { ...own, name: "Created" }, noOrigin)).app,
      (await createApp(admin, { ...own, name: "Rotated" }, noOrigin)).app,
      (await createApp(maker, { ...own, name: "Replaced" }, noOrigin)).app,
    ];
    const { app: keyed } = await createApp(admin, { ...own, name: "Keyed" }, noOrigin);
    await setKeys(maker, keyed.id, { jwks: JSON.stringify({ keys: [(await clientKeyPair()).jwk] }), jwksUri: "" }, noOrigin);
    const { app: given } = await someApp(maker, { isConfidential: true });
    await setKeys(maker, given.id, { jwks: JSON.stringify({ keys: [(await clientKeyPair()).jwk] }), jwksUri: "" }, noOrigin);
    const { handle: owner } = await db().handle.create({ data: { handle: `org-${orgId}`, orgId } });
    await transferApp(maker, given.id, { owner }, noOrigin);
    await bindApp(maker, given.id, orgId, noOrigin);
    const { app: unseen } = await createApp(admin, { ...own, name: "Unseen" }, noOrigin);
    await rotateSecret(maker, rotated.id, {}, noOrigin);
    await rotateSecret(admin, replaced.id, {}, noOrigin);
    const anHourLater = new Date(Date.now() + 3_600_000);
    await db().oAuthAppSecret.updateMany({ where: { appId: replaced.id }, data: { createdAt: anHourLater } });
    await end(admin, orgId, maker);
    const warnings = (await emailsTo(email)).filter(({ subject }) =>
      subject.endsWith("may still have the secrets or keys of 4 apps"),
    );
    expect(warnings).toHaveLength(1);
    const isNamed = (app: { id: string }) => warnings[0]?.text.includes(`/settings/applications/${app.id}`);
    expect([created, rotated, keyed, given, replaced, unseen].map(isNamed)).toEqual([true, true, true, true, false, false]);
  });

  test("decide about scopes, with a recent sign-in for additional ones (S113)", async () => {
    const { owner, admin, orgId, app } = await scene();
    await bindApp(owner, app.id, orgId, noOrigin);
    expect((await updateApp(admin, app.id, { scopes: ["openid", "read-repos"] }, noOrigin)).scopes).toEqual([
      "openid",
      "read-repos",
    ]);
    await expect(updateApp(longSignedIn(admin), app.id, { scopes: ["openid", "manage-repos"] }, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    expect((await updateApp(longSignedIn(admin), app.id, { scopes: ["openid"] }, noOrigin)).scopes).toEqual(["openid"]);
    await expect(updateApp(admin, app.id, { name: "Ours" }, noOrigin)).rejects.toMatchObject(notFound);
    await expect(updateApp(admin, app.id, { redirectUris: ["https://evil.example/cb"] }, noOrigin)).rejects.toMatchObject(
      notFound,
    );
    await expect(deleteApp(admin, app.id, noOrigin)).rejects.toMatchObject(notFound);
    expect(await getApp(admin, app.id)).toMatchObject({
      isOwner: false,
      mayManageAccess: true,
      boundOrganization: { id: orgId },
    });
    expect((await listApps(admin, { orgId })).apps.map(({ id }) => id)).toEqual([app.id]);
  });

  test("S97 S113 set the token duration to one hour up to thirty days, with a recent sign-in", async () => {
    const { owner, admin, orgId, app } = await scene();
    await expect(setTokenDuration(owner, app.id, 7200, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    await bindApp(owner, app.id, orgId, noOrigin);
    for (const seconds of [0, -1, 3599, 30 * 86_400 + 1, 3600.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(setTokenDuration(admin, app.id, seconds, noOrigin)).rejects.toMatchObject({ field: "tokenHours" });
    }
    await expect(setTokenDuration(longSignedIn(admin), app.id, 7200, noOrigin)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    for (const seconds of [3600, 30 * 86_400]) {
      await setTokenDuration(admin, app.id, seconds, noOrigin);
      expect(await read(app.id)).toMatchObject({ accessTokenSeconds: seconds });
    }
    expect((await auditOf(app.clientId)).at(-1)).toMatchObject({
      type: "oauth_app.set_token_duration",
      orgId,
      data: { before: 3600, after: 2_592_000 },
    });
  });
});

describe("the privilege", () => {
  test("S90 S113 S116 is given and removed by an operator with a recent sign-in", async () => {
    const { owner, admin, orgId, app } = await scene();
    const set = (by: Person, isGranted: boolean) => setAppPrivilege(by, app.id, "token-exchange", isGranted, noOrigin);
    await expect(set(operator, true)).rejects.toMatchObject({ code: "conflict" });
    await bindApp(owner, app.id, orgId, noOrigin);
    for (const person of [owner, admin]) await expect(set(person, true)).rejects.toMatchObject(notFound);
    await expect(set(longSignedIn(operator), true)).rejects.toMatchObject({ code: "reauthentication_required" });
    await set(operator, true);
    await set(operator, true);
    expect((await read(app.id)).privileges).toEqual(["token-exchange"]);
    await set(operator, false);
    expect((await read(app.id)).privileges).toEqual([]);
    expect((await auditOf(app.clientId)).slice(-2)).toMatchObject([
      { type: "oauth_app.privilege_grant", orgId, actorId: operator.userId, data: { privilege: "token-exchange" } },
      { type: "oauth_app.privilege_revoke", orgId },
    ]);
  });

  test("S90 is refused if the owner has bound the app to another organization since the operator saw it", async () => {
    const { owner, orgId, app } = await scene();
    await bindApp(owner, app.id, orgId, noOrigin);
    const give = (shown: string) => setAppPrivilege(operator, app.id, "token-exchange", true, noOrigin, shown);
    await expect(give(newId())).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/another organization/),
    });
    expect((await read(app.id)).privileges).toEqual([]);
    await give(orgId);
    expect((await read(app.id)).privileges).toEqual(["token-exchange"]);
  });

  test("can be requested once a week, and the request sends an email to the operators", async () => {
    const { owner, admin, member, orgId, app } = await scene();
    await db().user.updateMany({ where: { id: { in: [owner.userId, admin.userId] } }, data: { emailVerifiedAt: new Date() } });
    await expect(requestPrivilege(owner, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    await bindApp(owner, app.id, orgId, noOrigin);
    await expect(requestPrivilege(member, app.id, noOrigin)).rejects.toMatchObject(notFound);
    await requestPrivilege(admin, app.id, noOrigin);
    await expect(requestPrivilege(admin, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
    const to = async (person: Person) => {
      const { email } = await db().user.findUniqueOrThrow({ where: { id: person.userId } });
      return (await db().mail.findMany({ where: { recipient: email } })).map(({ text }) => text);
    };
    expect((await to(operator)).filter((text) => text.includes(app.clientId))).toHaveLength(1);
    await setAppPrivilege(operator, app.id, "token-exchange", true, noOrigin);
    expect(await read(app.id)).toMatchObject({ privilegeRequestedAt: null });
    for (const person of [owner, admin]) expect(await to(person)).toEqual([expect.stringContaining(app.id)]);
    await expect(requestPrivilege(admin, app.id, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  });
});
