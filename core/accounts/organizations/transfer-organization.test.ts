import { describe, expect, test } from "vitest";
import { db } from "../../db.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { newId } from "../../ids.ts";
import {
  auditTrail,
  emailsTo,
  from,
  linkedToken,
  organizationOf,
  outcomes,
  signedInPerson,
  staleActor,
} from "../testing/people.ts";
import { listSoleAdministrations } from "./find-organization.ts";
import { createInvitation, findInvitation } from "./invitations.ts";
import { changeRole, removeMember } from "./members.ts";
import { transferOrganization } from "./transfer-organization.ts";

const rolesIn = async (orgId: string) =>
  Object.fromEntries((await db().membership.findMany({ where: { orgId } })).map(({ userId, role }) => [userId, role]));
const adminsOf = (orgId: string) => db().membership.count({ where: { orgId, role: "admin" } });

describe("transferOrganization", () => {
  test.each([
    ["write", "write"],
    ["leave", undefined],
  ])("makes the member an administrator if the former administrator chooses %s", async (afterwards, left) => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada, [[bea, "read"]]);
    await createInvitation(ada.actor, id, { email: `x${newId()}@example.test`, role: "admin" }, from);
    const { email } = await db().invitation.findFirstOrThrow({ where: { orgId: id } });
    await transferOrganization(ada.actor, id, { username: bea.username.toUpperCase(), afterwards }, from);
    expect(await rolesIn(id)).toEqual({ [bea.id]: "admin", ...(left && { [ada.id]: left }) });
    expect(await findInvitation(await linkedToken(email, "invitations"))).toMatchObject({ state: "revoked" });
    expect((await emailsTo(bea.email))[0]?.subject).toContain(`The organization ${name} on `);
    expect(await auditTrail({ orgId: id })).toContain("organization.transfer");
  });

  test("the audit log counts the trusted publishers of a former administrator who can no longer write", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada, [[bea, "read"]]);
    const { id: repoId } = await someRepo(ada, { owner: name });
    const publisher = { preset: "oidc", issuer: "https://ci.example.com", claims: {}, createdById: ada.id };
    await db().trustedPublisher.createMany({ data: [newId(), newId()].map((each) => ({ id: each, repoId, ...publisher })) });
    await transferOrganization(ada.actor, id, { username: bea.username, afterwards: "write" }, from);
    await changeRole(bea.actor, id, ada.id, "admin", from);
    await changeRole(ada.actor, id, bea.id, "read", from);
    await transferOrganization(ada.actor, id, { username: bea.username, afterwards: "leave" }, from);
    const where = { orgId: id, type: "organization.transfer" };
    const entries = await db().auditEvent.findMany({ where, orderBy: { id: "asc" } });
    expect(entries.map(({ data }) => data)).toEqual([
      { role: "read", formerAdministrator: "write" },
      { role: "read", formerAdministrator: "left", publishers: 2 },
    ]);
  });

  test("requires a recent authentication, an administrator, and another active member", async () => {
    const [ada, bea, stranger] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const { id } = await organizationOf(ada, [[bea, "write"]]);
    const to = { username: bea.username, afterwards: "read" };
    await expect(transferOrganization(staleActor(ada.actor), id, to, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    for (const { actor } of [bea, stranger]) {
      await expect(transferOrganization(actor, id, to, from)).rejects.toMatchObject({ code: "forbidden" });
    }
    for (const username of [stranger.username, "nobody", "\0", ""]) {
      await expect(transferOrganization(ada.actor, id, { ...to, username }, from)).rejects.toMatchObject({ field: "username" });
    }
    await expect(transferOrganization(ada.actor, id, { ...to, username: ada.username }, from)).rejects.toMatchObject({
      field: "username",
    });
    for (const afterwards of ["admin", "owner", ""]) {
      await expect(transferOrganization(ada.actor, id, { ...to, afterwards }, from)).rejects.toMatchObject({
        field: "afterwards",
      });
    }
    await db().user.update({ where: { id: bea.id }, data: { disabledAt: new Date() } });
    await expect(transferOrganization(ada.actor, id, to, from)).rejects.toMatchObject({ field: "username" });
    expect(await rolesIn(id)).toEqual({ [ada.id]: "admin", [bea.id]: "write" });
  });

  test("an administrator always remains, even if several transfer, step down and leave at the same moment", async () => {
    for (let round = 0; round < 5; round++) {
      const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
      const { id } = await organizationOf(ada, [
        [bea, "admin"],
        [cy, "read"],
      ]);
      await outcomes([
        transferOrganization(ada.actor, id, { username: bea.username, afterwards: "leave" }, from),
        transferOrganization(bea.actor, id, { username: ada.username, afterwards: "leave" }, from),
        removeMember(bea.actor, id, ada.id, from),
        removeMember(ada.actor, id, ada.id, from),
        changeRole(ada.actor, id, bea.id, "read", from),
        changeRole(bea.actor, id, bea.id, "read", from),
      ]);
      expect(await adminsOf(id)).toBeGreaterThan(0);
    }
  });

  test("`listSoleAdministrations` lists only organizations that would have no administrator without the user", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const alone = await organizationOf(ada, [[bea, "write"]]);
    await organizationOf(ada, [[bea, "admin"]]);
    expect((await listSoleAdministrations(ada.id)).map(({ name }) => name)).toEqual([alone.name]);
    expect(await listSoleAdministrations(bea.id)).toEqual([]);
  });
});
