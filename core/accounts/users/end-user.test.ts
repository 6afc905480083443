import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { hashToken } from "../../crypto/token.ts";
import { db, pool } from "../../db.ts";
import { createPlatform, revokePlatform, rotatePlatformToken } from "../../hub/platforms/manage-platforms.ts";
import { addPublisher, type PublisherSubject } from "../../hub/publishers/change-publishers.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import { setAllowance } from "../../inference/metering/allowance.ts";
import { setRates } from "../../inference/metering/rates.ts";
import { addModel, removeModel } from "../../inference/models.ts";
import {
  addProvider,
  removeProvider,
  rotateProviderKey,
  setProviderDisabled,
} from "../../inference/providers/change-provider.ts";
import { rotateKeys } from "../../oauth/signing-keys.ts";
import { setStorageQuota } from "../../storage/manage-quotas.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import { findOwner } from "../handles/find-owner.ts";
import { createInvitation, findInvitation, resendInvitation } from "../organizations/invitations.ts";
import { resetSecondStep } from "../second-step/manage-second-step.ts";
import { findSiteSession } from "../sessions/find-site-session.ts";
import {
  auditTrail,
  freshName,
  from,
  fromElsewhere,
  linkedToken,
  organizationOf,
  outcomes,
  PASSWORD,
  signedInPerson,
  staleActor,
  type TestPerson,
} from "../testing/people.ts";
import { findCiToken } from "../tokens/find-ci-token.ts";
import { findPersonalAccessToken } from "../tokens/find-personal-access-token.ts";
import { createPersonalAccessToken } from "../tokens/personal-access-tokens.ts";
import { createUser } from "./create-user.ts";
import { deleteUser } from "./delete-user.ts";
import { disableUser, enableUser, endUserSessions, setOperator } from "./disable-user.ts";
import { signIn } from "./sign-in.ts";
import { setSignUpPolicy } from "./sign-up-policy.ts";

async function personalToken({ id }: TestPerson): Promise<string> {
  const { token } = await createPersonalAccessToken(
    operatorCommand,
    id,
    { name: "laptop", scopes: ["openid"], expiresInDays: null },
    from,
  );
  return token;
}

async function grantTo(clientId: string, userId: string): Promise<{ consentId: string; grantId: string }> {
  const consentId = newId();
  const grantId = newId();
  await db().oAuthConsent.create({ data: { id: consentId, userId, clientId, scopes: ["openid"], clientFingerprint: "x" } });
  await db().oAuthGrant.create({ data: { id: grantId, consentId, userId, clientId, payload: {} } });
  return { consentId, grantId };
}

const subjectOf = ({ type, owner, name }: Repo): PublisherSubject => ({ repo: { type, owner: owner.handle, name } });
const octoKite = { preset: "github", values: { repository: "octo/kite" } };

describe.each([
  ["disableUser", disableUser],
  ["deleteUser", deleteUser],
])("S99 S112 %s deletes the trusted publishers", (_, end) => {
  test("that the user added or that belong to the user's repositories, with the jobs' tokens", async () => {
    const [admin, writer] = [await signedInPerson(), await signedInPerson("eve")];
    const organization = await organizationOf(admin, [[writer, "write"]]);
    const [shared, own] = [await someRepo(admin, { owner: organization.name }), await someRepo(writer)];
    const added = await addPublisher(writer.actor, subjectOf(shared), octoKite, from);
    await addPublisher(operatorCommand, subjectOf(own), octoKite, from);
    const values = { repository: "octo/reef" };
    const kept = await addPublisher(admin.actor, subjectOf(shared), { preset: "github", values }, from);
    const token = freshName("job");
    const job = { tokenHash: hashToken(token), last4: "aked", publisherId: added.id, repoId: shared.id, description: "run 7" };
    await db().ciToken.create({ data: { id: newId(), ...job, expiresAt: new Date(Date.now() + 60_000) } });
    expect(await findCiToken(token)).toBeDefined();

    await end(operatorCommand, writer.id, from);

    const repoId = { in: [shared.id, own.id] };
    expect(await db().trustedPublisher.findMany({ where: { repoId }, select: { id: true } })).toEqual([{ id: kept.id }]);
    expect(await findCiToken(token)).toBeUndefined();
    const entries = await db().auditEvent.findMany({ where: { orgId: organization.id, type: "trusted_publisher.delete_all" } });
    expect(entries).toMatchObject([{ subjectId: null, data: { username: writer.username, count: 1, repos: [shared.fullName] } }]);
  });

  test("that the user adds at the same moment", async () => {
    const [admin, writer] = [await signedInPerson(), await signedInPerson("eve")];
    const repo = await someRepo(admin, { owner: (await organizationOf(admin, [[writer, "write"]])).name });
    const queue = await queueForLock<unknown>(`SELECT FROM "user" WHERE id = '${writer.id}' FOR UPDATE`, [
      () => addPublisher(writer.actor, subjectOf(repo), octoKite, from),
      () => end(operatorCommand, writer.id, from),
    ]);
    await Promise.all(queue);
    expect(await db().trustedPublisher.count({ where: { repoId: repo.id } })).toBe(0);
  });
});

describe("S112 disableUser", () => {
  test("permanently ends sessions, personal tokens, grants to apps and invitations", async () => {
    const person = await signedInPerson();
    const pat = await personalToken(person);
    const { consentId, grantId } = await grantTo("client-1", person.id);
    const organization = await organizationOf(person);
    const guest = `${freshName("guest")}@example.test`;
    await createInvitation(person.actor, organization.id, { email: guest, role: "admin" }, from);
    const invitation = await linkedToken(guest, "invitations");

    const operator = await signedInPerson("op", { isOperator: true });
    await disableUser(operator.actor, person.id, from);
    await disableUser(operator.actor, person.id, from);
    await enableUser(operator.actor, person.id, from);

    expect(await findSiteSession(person.token)).toBeUndefined();
    expect(await findPersonalAccessToken(pat)).toBeUndefined();
    expect((await db().oAuthConsent.findUniqueOrThrow({ where: { id: consentId } })).revokedAt).not.toBeNull();
    expect((await db().oAuthGrant.findUniqueOrThrow({ where: { id: grantId } })).revokedAt).not.toBeNull();
    expect(await findInvitation(invitation)).toMatchObject({ state: "revoked" });
    await expect(signIn({ login: person.username, password: PASSWORD }, fromElsewhere())).resolves.toBeDefined();
    expect((await auditTrail({ subjectId: person.id })).filter((type) => /able/.test(type))).toEqual([
      "user.disable",
      "user.enable",
    ]);
  });

  test("is only for operators, and other users get not_found", async () => {
    const person = await signedInPerson();
    const other = await signedInPerson();
    for (const target of [person.id, newId(), "\0"]) {
      await expect(disableUser(other.actor, target, from)).rejects.toMatchObject({
        code: "not_found",
        message: "User not found",
      });
    }
    await expect(enableUser(other.actor, person.id, from)).rejects.toMatchObject({ code: "not_found" });
    await expect(disableUser(operatorCommand, newId(), from)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the last operator", () => {
  test("cannot be disabled, deleted or demoted, even if two operators end each other's role at once", async () => {
    await db().user.updateMany({ data: { isOperator: false } });
    const [one, two] = [await signedInPerson("op", { isOperator: true }), await signedInPerson("op", { isOperator: true })];
    const ends = await outcomes([disableUser(one.actor, two.id, from), setOperator(two.actor, one.id, false, from)]);
    expect(ends).toEqual(["conflict", "ok"]);
    const [last] = await db().user.findMany({ where: { isOperator: true, disabledAt: null } });
    for (const end of [disableUser, deleteUser]) {
      await expect(end(operatorCommand, last?.id ?? "", from)).rejects.toMatchObject({ code: "conflict" });
    }
    await expect(setOperator(operatorCommand, last?.id ?? "", false, from)).rejects.toMatchObject({ code: "conflict" });
  });

  test("S137 is not locked while an ordinary account ends, which may take long", async () => {
    const [operator, ada, bea] = [
      await signedInPerson("op", { isOperator: true }),
      await signedInPerson(),
      await signedInPerson(),
    ];
    const busy = await pool().connect();
    try {
      await busy.query("begin");
      await busy.query('select 1 from "user" where id = $1 for no key update', [operator.id]);
      await deleteUser(ada.actor, ada.id, from);
      await disableUser(operator.actor, bea.id, from);
    } finally {
      await busy.query("rollback");
      busy.release();
    }
  });

  test("S116 can be replaced after recent authentication, and the audit log records both changes of roles", async () => {
    const operator = await signedInPerson("op", { isOperator: true });
    const person = await signedInPerson();
    await expect(setOperator(staleActor(operator.actor), person.id, true, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await expect(setOperator(person.actor, person.id, true, from)).rejects.toMatchObject({ code: "not_found" });
    await setOperator(operator.actor, person.id, true, from);
    expect((await findSiteSession(person.token))?.user.isOperator).toBe(true);
    await setOperator(operator.actor, person.id, false, from);
    expect((await auditTrail({ subjectId: person.id })).slice(1)).toEqual(["user.make_operator", "user.unmake_operator"]);
  });
});

test("S112 an invitation that a former operator sent or resent is revoked", async () => {
  const [operator, admin] = [await signedInPerson("op", { isOperator: true }), await signedInPerson()];
  const { id: orgId } = await organizationOf(admin);
  const [sent, again] = [`${freshName("guest")}@example.test`, `${freshName("guest")}@example.test`];
  await createInvitation(operator.actor, orgId, { email: sent, role: "admin" }, from);
  const { id } = await createInvitation(admin.actor, orgId, { email: again, role: "admin" }, from);
  await resendInvitation(operator.actor, orgId, id, from);
  await setOperator(operatorCommand, operator.id, false, from);
  expect(await db().invitation.count({ where: { orgId, revokedAt: null } })).toBe(0);
});

describe("S135 an operator who loses the role while a change runs", () => {
  test("can no longer make the change", async () => {
    const accomplice = await signedInPerson();
    const ends = [
      (id: string) => setOperator(operatorCommand, id, false, from),
      (id: string) => disableUser(operatorCommand, id, from),
    ];
    for (const end of ends) {
      const operator = await signedInPerson("op", { isOperator: true });
      await signedInPerson("op", { isOperator: true });
      await end(operator.id);
      await expect(setOperator(operator.actor, accomplice.id, true, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(disableUser(operator.actor, accomplice.id, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(deleteUser(operator.actor, accomplice.id, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(endUserSessions(operator.actor, accomplice.id, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(resetSecondStep(operator.actor, accomplice.id, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(enableUser(operator.actor, accomplice.id, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(setSignUpPolicy(operator.actor, { isOpen: true }, from)).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  test("can no longer change the installation", async () => {
    const [operator] = [await signedInPerson("op", { isOperator: true }), await signedInPerson("op", { isOperator: true })];
    const provider = await addProvider(operatorCommand, { name: freshName("p"), baseUrl: "https://models.example/v1" }, from);
    const model = await addModel(operatorCommand, provider.id, { name: freshName("m") }, from);
    const { id: modelId } = await db().inferenceModel.findFirstOrThrow({ where: { name: model.name } });
    const platform = await createPlatform(operatorCommand, { name: freshName("f"), source: `https://${newId()}.example` }, from);
    await setOperator(operatorCommand, operator.id, false, from);
    const { actor } = operator;
    const changes: (() => Promise<unknown>)[] = [
      () => addProvider(actor, { name: freshName("p"), baseUrl: "https://models.example/v1" }, from),
      () => rotateProviderKey(actor, provider.id, "a-key", from),
      () => setProviderDisabled(actor, provider.id, true, from),
      () => removeProvider(actor, provider.id, from),
      () => addModel(actor, provider.id, { name: freshName("m") }, from),
      () => removeModel(actor, modelId, from),
      () => setRates(actor, { perUser: "5", perApp: "5" }, from),
      () => setAllowance(actor, "user", { monthlyTokens: "5", monthlyRequests: "5" }, from),
      () => createPlatform(actor, { name: freshName("f"), source: `https://${newId()}.example` }, from),
      () => rotatePlatformToken(actor, platform, from),
      () => revokePlatform(actor, platform, from),
      () => setStorageQuota(actor, operator.username, "none", from),
      () => rotateKeys(actor, true, from),
    ];
    expect(await outcomes(changes.map((change) => change()))).toEqual(changes.map(() => "forbidden"));
  });

  test("makes nobody else an operator, even if both changes happen at the same moment", async () => {
    const [operator, accomplice] = [await signedInPerson("op", { isOperator: true }), await signedInPerson()];
    await signedInPerson("op", { isOperator: true });
    const [demoted, given] = await queueForLock(`SELECT FROM "user" WHERE id = '${operator.id}' FOR UPDATE`, [
      () => setOperator(operatorCommand, operator.id, false, from),
      () => setOperator(operator.actor, accomplice.id, true, from),
    ]);
    await demoted;
    await expect(given).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("S112 deleteUser", () => {
  test("deletes sessions, tokens, grants, memberships and owned apps, but keeps the log and the name", async () => {
    const person = await signedInPerson();
    const pat = await personalToken(person);
    const { consentId } = await grantTo("client-2", person.id);
    const admin = await signedInPerson();
    const organization = await organizationOf(admin, [[person, "write"]]);
    const clientId = newId();
    await db().oAuthApp.create({ data: { id: newId(), clientId, name: "Quay", ownerUserId: person.id } });
    const { grantId } = await grantTo(clientId, admin.id);

    await deleteUser(person.actor, person.id, from);

    expect(await findSiteSession(person.token)).toBeUndefined();
    expect(await findPersonalAccessToken(pat)).toBeUndefined();
    expect(await db().oAuthConsent.findUnique({ where: { id: consentId } })).toBeNull();
    expect(await db().membership.count({ where: { orgId: organization.id } })).toBe(1);
    expect(await db().oAuthApp.findUnique({ where: { clientId } })).toBeNull();
    expect((await db().oAuthGrant.findUniqueOrThrow({ where: { id: grantId } })).revokedAt).not.toBeNull();
    expect(await findOwner(person.username)).toBeUndefined();
    expect(await auditTrail({ subjectId: person.id })).toContain("user.delete");
    const again = { username: person.username, email: person.email, password: PASSWORD };
    await expect(createUser(operatorCommand, again, from)).rejects.toMatchObject({ code: "conflict", field: "username" });
    await expect(createUser(operatorCommand, { ...again, username: freshName("ada") }, from)).resolves.toBeDefined();
  });

  test("S113 needs recent authentication, and is refused to other users", async () => {
    const person = await signedInPerson();
    const other = await signedInPerson();
    await expect(deleteUser(staleActor(person.actor), person.id, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await expect(deleteUser(other.actor, person.id, from)).rejects.toMatchObject({ code: "not_found" });
  });

  test("is refused until the user's organization has another administrator", async () => {
    const person = await signedInPerson();
    const organization = await organizationOf(person);
    await expect(deleteUser(person.actor, person.id, from)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(organization.name),
    });
  });

  test("keeps one of two last administrators who delete their accounts at the same time", async () => {
    const [one, two] = [await signedInPerson(), await signedInPerson()];
    const organization = await organizationOf(one, [[two, "admin"]]);
    const ends = await outcomes([deleteUser(one.actor, one.id, from), deleteUser(two.actor, two.id, from)]);
    expect(ends).toEqual(["conflict", "ok"]);
    expect(await db().membership.count({ where: { orgId: organization.id, role: "admin" } })).toBe(1);
  });
});
