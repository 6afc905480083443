import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import {
  auditTrail,
  emailsTo,
  fillAuditHour,
  freshName,
  from,
  linkedToken,
  organizationOf,
  outcomes,
  signedInPerson,
} from "../testing/people.ts";
import { deleteUser } from "../users/delete-user.ts";
import { disableUser } from "../users/disable-user.ts";
import { listOrganizations, listSoleAdministrations } from "./find-organization.ts";
import { createInvitation, findInvitation, revokeInvitation } from "./invitations.ts";
import { addMember, changeRole, findMember, listMembers, removeMember } from "./members.ts";
import { updateOrganizationSecurity } from "./security/organization-security.ts";
import { updateOrganization } from "./update-organization.ts";
import { HELD_SECRET_EMAILS } from "./withdraw-organization.ts";

const adminsOf = (orgId: string) => db().membership.count({ where: { orgId, role: "admin" } });

describe("members", () => {
  test("S144 an administrator who has made too many changes in an hour can still lower roles and remove members", async () => {
    const [admin, member] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[member, "write"]]);
    await fillAuditHour(admin.id);
    await changeRole(admin.actor, id, member.id, "read", from);
    await expect(changeRole(admin.actor, id, member.id, "write", from)).rejects.toMatchObject({ code: "rate_limited" });
    await removeMember(admin.actor, id, member.id, from);
  });

  test("are listed to members, page by page, without email addresses", async () => {
    const [admin, reader, stranger] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[reader, "read"]]);
    const first = await listMembers(reader.actor, id, { pageSize: 1 });
    expect(first).toMatchObject({
      total: 2,
      page: 1,
      pageSize: 1,
      items: [{ userId: admin.id, role: "admin", isDisabled: false }],
    });
    expect((await listMembers(reader.actor, id, { page: 2, pageSize: 1 })).items).toMatchObject([
      { userId: reader.id, role: "read" },
    ]);
    expect(JSON.stringify(await listMembers(reader.actor, id))).not.toContain("@example.test");
    for (const target of [id, newId(), "\0"]) {
      await expect(listMembers(stranger.actor, target)).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  test("are found by role and by any part of a name, with wildcards taken literally", async () => {
    const [admin, mira, jun] = [await signedInPerson("zz"), await signedInPerson("mira"), await signedInPerson("jun")];
    const { id } = await organizationOf(admin, [
      [mira, "write"],
      [jun, "read"],
    ]);
    await db().user.update({ where: { id: jun.id }, data: { fullName: "Jun 100% Ōta_" } });
    const found = async (search: Parameters<typeof listMembers>[2]) => {
      const { items, total } = await listMembers(admin.actor, id, search);
      expect(total).toBe(items.length);
      return items.map(({ userId }) => userId);
    };
    expect(await found({ text: "MIRA" })).toEqual([mira.id]);
    expect(await found({ text: "ōta" })).toEqual([jun.id]);
    for (const text of ["%", "_", "100%"]) expect(await found({ text })).toEqual([jun.id]);
    expect(await found({ text: "\\" })).toEqual([]);
    expect(await found({ role: "write" })).toEqual([mira.id]);
    expect(await found({ role: "write", text: "jun" })).toEqual([]);
    for (const text of ["\0", "\ud800", "x".repeat(1_000_000)]) await found({ text });
  });

  test("are found by username in any spelling, but only by members", async () => {
    const [admin, reader, stranger] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[reader, "read"]]);
    expect(await findMember(reader.actor, id, admin.username.toUpperCase())).toMatchObject({ userId: admin.id, role: "admin" });
    for (const name of [stranger.username, "nobody-here", "\0"]) expect(await findMember(reader.actor, id, name)).toBeUndefined();
    await expect(findMember(stranger.actor, id, admin.username)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("S138 are listed in bounded responses, whatever page a URL requests", async () => {
    const admin = await signedInPerson();
    const { id } = await organizationOf(admin);
    for (const bad of [Number.NaN, -1, 0, Number.POSITIVE_INFINITY, 1e308]) {
      const page = await listMembers(admin.actor, id, { page: bad, pageSize: bad });
      expect(page.pageSize).toBeLessThanOrEqual(100);
      expect(page.total).toBe(1);
    }
  });

  test("are added without their consent only by the operator", async () => {
    const [admin, person] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin);
    const input = { username: person.username.toUpperCase(), role: "contributor" };
    await expect(addMember(admin.actor, id, input, from)).rejects.toMatchObject({ code: "forbidden" });
    const adds = [1, 2, 3].map(() => addMember(operatorCommand, id, input, from));
    expect(await outcomes(adds)).toEqual(["conflict", "conflict", "ok"]);
    await expect(addMember(operatorCommand, id, { ...input, role: "owner" }, from)).rejects.toMatchObject({ field: "role" });
    await expect(addMember(operatorCommand, id, { username: freshName("no"), role: "read" }, from)).rejects.toMatchObject({
      code: "not_found",
      field: "username",
    });
  });

  test("S116 get a new role only from administrators, and the audit log records the old and the new role", async () => {
    const [admin, person] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[person, "read"]]);
    await changeRole(admin.actor, id, person.id, "write", from);
    expect(await listOrganizations(person.id)).toMatchObject([{ role: "write" }]);
    const event = await db().auditEvent.findFirstOrThrow({ where: { orgId: id, type: "organization.change_role" } });
    expect(event).toMatchObject({ actorId: admin.id, subjectId: person.id, data: { from: "read", to: "write" } });
    await expect(changeRole(person.actor, id, person.id, "admin", from)).rejects.toMatchObject({ code: "forbidden" });
    await expect(changeRole(admin.actor, id, newId(), "read", from)).rejects.toMatchObject({ code: "not_found" });
    await expect(changeRole(admin.actor, id, "\0", "read", from)).rejects.toMatchObject({ code: "not_found" });
    await expect(changeRole(admin.actor, id, person.id, "god", from)).rejects.toMatchObject({
      code: "invalid_request",
      field: "role",
    });
  });

  test("can leave, but only administrators can remove other members", async () => {
    const [admin, one, two] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [
      [one, "write"],
      [two, "write"],
    ]);
    await expect(removeMember(one.actor, id, two.id, from)).rejects.toMatchObject({ code: "forbidden" });
    await removeMember(one.actor, id, one.id, from);
    await removeMember(admin.actor, id, two.id, from);
    await expect(removeMember(one.actor, id, one.id, from)).rejects.toMatchObject({ code: "not_found" });
    expect((await auditTrail({ orgId: id })).slice(-2)).toEqual(["organization.leave", "organization.remove_member"]);
    expect((await listMembers(admin.actor, id)).total).toBe(1);
  });

  test("trusted publishers of a former writer remain and are counted in the organization's audit log", async () => {
    const [admin, writer] = [await signedInPerson(), await signedInPerson()];
    const organization = await organizationOf(admin, [[writer, "admin"]]);
    const { id: repoId } = await someRepo(admin, { owner: organization.name });
    const { id: elsewhere } = await someRepo(writer);
    const publisher = { preset: "oidc", issuer: "https://ci.example.com", claims: {}, createdById: writer.id };
    const rows = [repoId, repoId, elsewhere].map((each) => ({ id: newId(), repoId: each, ...publisher }));
    await db().trustedPublisher.createMany({ data: rows });
    for (const role of ["write", "read"]) await changeRole(admin.actor, organization.id, writer.id, role, from);
    await removeMember(admin.actor, organization.id, writer.id, from);
    const entries = await db().auditEvent.findMany({ where: { orgId: organization.id }, orderBy: { id: "asc" } });
    expect(entries.slice(-3).map(({ data }) => data)).toEqual([
      { from: "admin", to: "write" },
      { from: "write", to: "read", publishers: 2 },
      { role: "read", publishers: 2 },
    ]);
    expect(await db().trustedPublisher.count({ where: { repoId } })).toBe(2);
  });

  test("the last administrator can neither leave nor be demoted", async () => {
    const [admin, writer] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[writer, "write"]]);
    const attempts = [
      () => removeMember(admin.actor, id, admin.id, from),
      () => changeRole(admin.actor, id, admin.id, "write", from),
      () => removeMember(operatorCommand, id, admin.id, from),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "conflict" });
    expect(await adminsOf(id)).toBe(1);
    await changeRole(admin.actor, id, writer.id, "admin", from);
    await disableUser(operatorCommand, writer.id, from);
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "conflict" });
    await expect(deleteUser(admin.actor, admin.id, from)).rejects.toMatchObject({ code: "conflict" });
    expect(await listSoleAdministrations(admin.id)).toHaveLength(1);
    await removeMember(admin.actor, id, writer.id, from);
  });

  test("S116 administrators are notified that a former administrator still knows the secret of a bound app", async () => {
    const [admin, maker] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[maker, "admin"]]);
    const app = { name: "Night train", scopes: ["openid"], redirectUris: [], ownerUserId: maker.id, boundOrgId: id };
    const secrets = { create: { id: newId(), secretHash: newId(), last4: "last" } };
    const { id: appId } = await db().oAuthApp.create({ data: { id: newId(), clientId: newId(), ...app, secrets } });
    await changeRole(admin.actor, id, maker.id, "read", from);
    await removeMember(maker.actor, id, maker.id, from);
    const messages = await emailsTo(admin.email);
    expect(messages.map(({ subject }) => subject)).toEqual(
      Array(2).fill(`${maker.username} may still have the secret or key of Night train`),
    );
    expect(messages[0]?.text).toContain(`/settings/applications/${appId}`);
    expect((await emailsTo(maker.email)).filter(({ subject }) => subject.includes("secret"))).toEqual([]);
  });

  test("S56 administrators get few emails when a role is raised and lowered again and again", async () => {
    const [admin, maker] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[maker, "admin"]]);
    for (const name of ["Night train", "Day train"]) {
      const app = { name, scopes: ["openid"], redirectUris: [], ownerUserId: maker.id, boundOrgId: id };
      const secrets = { create: { id: newId(), secretHash: newId(), last4: "last" } };
      await db().oAuthApp.create({ data: { id: newId(), clientId: newId(), ...app, secrets } });
    }
    for (let round = 0; round < 5; round++)
      for (const role of ["read", "admin"]) await changeRole(admin.actor, id, maker.id, role, from);
    const messages = (await emailsTo(admin.email)).filter(({ subject }) => subject.includes("secret"));
    expect(messages).toHaveLength(HELD_SECRET_EMAILS.limit);
    for (const name of ["Night train", "Day train"]) expect(messages[0]?.text).toContain(name);
  });

  test("one administrator stays if two remove or demote each other at the same time", async () => {
    for (let round = 0; round < 3; round++) {
      const [one, two] = [await signedInPerson(), await signedInPerson()];
      const { id } = await organizationOf(one, [[two, "admin"]]);
      const ends = await outcomes([removeMember(one.actor, id, two.id, from), changeRole(two.actor, id, one.id, "read", from)]);
      expect(ends.filter((end) => end === "ok")).toHaveLength(1);
      expect(await adminsOf(id)).toBe(1);
    }
  });

  test("a waiting request has no effect if its administrator is demoted in the meantime", async () => {
    const [admin, former] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[former, "admin"]]);
    const invited = await createInvitation(admin.actor, id, { email: `${freshName("eve")}@example.test`, role: "read" }, from);
    const [demoted, ...others] = await queueForLock(`SELECT FROM organization WHERE id = '${id}' FOR UPDATE`, [
      () => changeRole(admin.actor, id, former.id, "read", from),
      () => updateOrganization(former.actor, id, { website: "https://mine.example" }, from),
      () => updateOrganizationSecurity(former.actor, id, { requiresSecondStep: false }, from),
      () => revokeInvitation(former.actor, id, invited.id, from),
    ]);
    await demoted;
    expect(await outcomes(others)).toEqual(["forbidden", "forbidden", "forbidden"]);
  });

  test("S49 access of apps to the organization ends with the membership, and rejoining does not restore it", async () => {
    const [admin, person] = [await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(admin, [[person, "write"]]);
    const [consentId, grantId, kept] = [newId(), newId(), newId()];
    const base = { userId: person.id, clientId: "client-1", orgIds: [kept, id] };
    await db().oAuthConsent.create({ data: { id: consentId, ...base, clientFingerprint: "x" } });
    await db().oAuthGrant.create({ data: { id: grantId, consentId, ...base, payload: {} } });
    await removeMember(admin.actor, id, person.id, from);
    await addMember(operatorCommand, id, { username: person.username, role: "write" }, from);
    expect((await db().oAuthConsent.findUniqueOrThrow({ where: { id: consentId } })).orgIds).toEqual([kept]);
    expect((await db().oAuthGrant.findUniqueOrThrow({ where: { id: grantId } })).orgIds).toEqual([kept]);
  });

  test("a former administrator cannot return through an invitation to themselves", async () => {
    for (const end of ["demoted", "removed"]) {
      const [admin, rogue] = [await signedInPerson(), await signedInPerson()];
      const { id } = await organizationOf(admin, [[rogue, "admin"]]);
      const mailbox = `${freshName("rogue")}@example.test`;
      await createInvitation(rogue.actor, id, { email: mailbox, role: "admin" }, from);
      const token = await linkedToken(mailbox, "invitations");
      expect(await findInvitation(token)).toMatchObject({ state: "open" });
      if (end === "demoted") await changeRole(admin.actor, id, rogue.id, "read", from);
      else await removeMember(admin.actor, id, rogue.id, from);
      expect(await findInvitation(token)).toMatchObject({ state: "revoked" });
    }
  });
});
