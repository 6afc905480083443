import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import { findAvatar } from "../avatar.ts";
import { findOwner } from "../handles/find-owner.ts";
import { auditTrail, freshName, from, organizationOf, outcomes, signedInPerson, staleActor } from "../testing/people.ts";
import { createOrganization } from "./create-organization.ts";
import { findOrganization, findOrganizationByName, listAllOrganizations, listOrganizations } from "./find-organization.ts";
import { createInvitation } from "./invitations.ts";
import { MEMBERSHIPS_MAX_PER_USER } from "./membership.ts";
import { readOverview } from "./read-overview.ts";
import { setPlan } from "./set-plan.ts";
import { updateOrganization } from "./update-organization.ts";

describe("createOrganization", () => {
  test("makes its creator the administrator", async () => {
    const person = await signedInPerson();
    const name = `${freshName("Harbour")}.Works`;
    const { id } = await createOrganization(
      person.actor,
      { name, fullName: "Harbour Works", website: "http://harbour.example" },
      from,
    );
    const organization = { id, name, fullName: "Harbour Works", website: "http://harbour.example/", plan: null };
    expect(await findOrganization(id)).toMatchObject(organization);
    expect(await findOrganizationByName(name.toUpperCase())).toMatchObject(organization);
    expect(await findOwner(name.toLowerCase())).toMatchObject({ kind: "organization", id, handle: name });
    expect(await listOrganizations(person.id)).toEqual([expect.objectContaining({ ...organization, role: "admin" })]);
    expect(await auditTrail({ orgId: id })).toEqual(["organization.create"]);
  });

  test("S139 refuses a name that a user or a parallel request has claimed", async () => {
    const person = await signedInPerson();
    await expect(createOrganization(person.actor, { name: person.username }, from)).rejects.toMatchObject({
      code: "conflict",
      field: "name",
    });
    const name = freshName("quay");
    const claims = [1, 2, 3, 4].map(() => createOrganization(person.actor, { name }, from));
    expect(await outcomes(claims)).toEqual(["conflict", "conflict", "conflict", "ok"]);
    expect(await db().organization.count({ where: { name } })).toBe(1);
    expect(await db().membership.count({ where: { userId: person.id } })).toBe(1);
  });

  test("lets the operator's command name the administrator", async () => {
    const { id: ownerId } = await signedInPerson();
    const { id } = await createOrganization(operatorCommand, { name: freshName("org"), ownerId }, from);
    expect(await listOrganizations(ownerId)).toEqual([expect.objectContaining({ id, role: "admin" })]);
    await expect(createOrganization(operatorCommand, { name: freshName("org") }, from)).rejects.toMatchObject({ field: "owner" });
  });

  test("makes the creating user the administrator even if the input names another user", async () => {
    const [person, other] = [await signedInPerson(), await signedInPerson()];
    await createOrganization(person.actor, { name: freshName("org"), ownerId: other.id }, from);
    expect(await listOrganizations(other.id)).toEqual([]);
    expect(await listOrganizations(person.id)).toHaveLength(1);
  });

  test("S138 refuses one of two simultaneous creations if the user may join only one more organization", async () => {
    const person = await signedInPerson();
    const ids = Array.from({ length: MEMBERSHIPS_MAX_PER_USER - 1 }, () => newId());
    await db().organization.createMany({ data: ids.map((id) => ({ id, name: id, fullName: id })) });
    await db().membership.createMany({ data: ids.map((orgId) => ({ orgId, userId: person.id, role: "read" })) });
    const create = () => createOrganization(person.actor, { name: freshName("org") }, from);
    const ends = await queueForLock(`SELECT FROM "user" WHERE id = '${person.id}' FOR UPDATE`, [create, create]);
    expect(await outcomes(ends)).toEqual(["conflict", "ok"]);
  });

  test("S56 lets a user take at most 20 names a day", async () => {
    const person = await signedInPerson();
    for (let i = 0; i < 20; i++) await createOrganization(person.actor, { name: freshName("org") }, from);
    await expect(createOrganization(person.actor, { name: freshName("org") }, from)).rejects.toMatchObject({
      code: "rate_limited",
    });
  });
});

describe("updateOrganization", () => {
  test("changes the given fields, including the logo", async () => {
    const person = await signedInPerson();
    const { id, name } = await organizationOf(person);
    const logo = await sharp({ create: { width: 9, height: 9, channels: 3, background: "#225577" } })
      .png()
      .toBuffer();
    await updateOrganization(
      person.actor,
      id,
      { fullName: "Harbour", email: "Desk@Harbour.Example", website: "https://harbour.example", logo },
      from,
    );
    expect(await findOrganization(id)).toMatchObject({ fullName: "Harbour", email: "Desk@harbour.example" });
    expect((await findAvatar(name)).contentType).toBe("image/webp");
    await updateOrganization(person.actor, id, { email: "", website: "", logo: null }, from);
    expect(await findOrganization(id)).toMatchObject({ fullName: "Harbour", email: null, website: null, avatarId: null });
    expect(await db().image.count()).toBe(0);
    expect(await auditTrail({ orgId: id })).toEqual(["organization.create", "organization.update", "organization.update"]);
  });

  test.each([
    ["fullName", { fullName: "" }],
    ["fullName", { fullName: "\0" }],
    ["website", { website: "ftp://harbour.example" }],
    ["email", { email: "nobody" }],
    ["logo", { logo: Buffer.from("GIF89a, but not really") }],
  ])("refuses an invalid %s with an error that names the field", async (field, bad) => {
    const person = await signedInPerson();
    const { id } = await organizationOf(person);
    await expect(updateOrganization(person.actor, id, bad, from)).rejects.toMatchObject({ code: "invalid_request", field });
  });

  test("is only for administrators", async () => {
    const [person, writer, stranger] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
    const { id } = await organizationOf(person, [[writer, "write"]]);
    for (const { actor } of [writer, stranger]) {
      for (const target of [id, newId(), "\0"]) {
        await expect(updateOrganization(actor, target, { fullName: "x" }, from)).rejects.toMatchObject({ code: "forbidden" });
      }
    }
  });
});

describe("setPlan", () => {
  test("lets operators, but not administrators, set and remove a plan", async () => {
    const person = await signedInPerson();
    const operator = await signedInPerson("op", { isOperator: true });
    const { id } = await organizationOf(person);
    await setPlan(operator.actor, id, "enterprise", from);
    expect(await findOrganization(id)).toMatchObject({ plan: "enterprise" });
    await setPlan(operatorCommand, id, null, from);
    expect(await findOrganization(id)).toMatchObject({ plan: null });
    await expect(setPlan(person.actor, id, "enterprise", from)).rejects.toMatchObject({ code: "forbidden" });
    await expect(setPlan(operatorCommand, id, "gold", from)).rejects.toMatchObject({ code: "invalid_request", field: "plan" });
    await expect(setPlan(operatorCommand, newId(), "team", from)).rejects.toMatchObject({ code: "not_found" });
    await setPlan(operator.actor, id, null, from);
    expect(await auditTrail({ orgId: id })).toEqual(["organization.create", "organization.set_plan", "organization.set_plan"]);
    await expect(setPlan(staleActor(operator.actor), id, "team", from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
  });

  test("only operators see every organization with its plan and contact addresses", async () => {
    const [person, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const operator = await signedInPerson("op", { isOperator: true });
    const [quay, pier] = [await organizationOf(person, [[bea, "admin"]]), await organizationOf(bea)];
    await setPlan(operatorCommand, pier.id, "academia", from);
    const list = (search: Parameters<typeof listAllOrganizations>[1]) => listAllOrganizations(operator.actor, search);
    expect((await list({ text: quay.name.toUpperCase() })).items).toEqual([
      expect.objectContaining({
        id: quay.id,
        plan: null,
        memberCount: 2,
        exchangeAppCount: 0,
        email: null,
        admin: { username: person.username, email: person.email },
      }),
    ]);
    expect((await list({ text: pier.name, plan: "academia" })).total).toBe(1);
    expect((await list({ text: pier.name, plan: "none" })).total).toBe(0);
    for (const text of ["\0", "%", "\\", "\ud800", "x".repeat(1_000_000)]) {
      expect((await list({ text, page: 1e9, pageSize: 1e9 })).pageSize).toBeLessThanOrEqual(100);
    }
    await expect(listAllOrganizations(person.actor)).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("readOverview", () => {
  test("counts members by role, and shows administrators what needs their attention", async () => {
    const [person, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id } = await organizationOf(person, [[bea, "write"]]);
    await createInvitation(person.actor, id, { email: `${freshName("x")}@example.test`, role: "read" }, from);
    await createInvitation(person.actor, id, { email: `${freshName("y")}@example.test`, role: "read" }, from);
    const { id: late } = await db().invitation.findFirstOrThrow({ where: { orgId: id } });
    await db().invitation.update({ where: { id: late }, data: { expiresAt: new Date(0) } });
    await db().organizationAppRequest.create({ data: { orgId: id, clientId: "lantern", userId: bea.id } });
    const waiting = { openInvitations: 1, expiredInvitations: 1, appRequests: 1, restrictedMembers: 0 };
    const members = { memberCount: 2, members: { admin: 1, write: 1, contributor: 0, read: 0 } };
    expect(await readOverview(person.actor, id)).toEqual({ ...members, waiting });
    expect(await readOverview(bea.actor, id)).toEqual({ ...members, waiting: null });
    await db().organization.update({ where: { id }, data: { requiresSecondStep: true } });
    expect(await readOverview(person.actor, id)).toEqual({ ...members, waiting: null });
    expect(await readOverview(operatorCommand, id)).toMatchObject({ waiting: { restrictedMembers: 2 } });
    await expect(readOverview((await signedInPerson()).actor, id)).rejects.toMatchObject({ code: "forbidden" });
  });
});
