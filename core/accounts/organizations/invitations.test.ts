import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { queueForLock } from "../../testing/as-owner.ts";
import {
  auditTrail,
  emailsTo,
  freshName,
  from,
  linkedToken,
  organizationOf,
  outcomes,
  signedInPerson,
} from "../testing/people.ts";
import { disableUser } from "../users/disable-user.ts";
import { listOrganizations } from "./find-organization.ts";
import {
  acceptInvitation,
  createInvitation,
  findInvitation,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "./invitations.ts";
import { removeMember } from "./members.ts";

const freshAddress = () => `${freshName("guest")}@example.test`;

async function invited(role = "write") {
  const admin = await signedInPerson();
  const organization = await organizationOf(admin);
  const email = freshAddress();
  const { id } = await createInvitation(admin.actor, organization.id, { email, role }, from);
  return { admin, organization, email, id, token: await linkedToken(email, "invitations") };
}

describe("invitations", () => {
  test("admit anybody who has the link of the email", async () => {
    const { admin, organization, email, token } = await invited();
    const [message] = await emailsTo(email);
    expect(message?.subject).toBe(`Join ${organization.name} on Keyhook`);
    expect(message?.text).toContain(admin.username);
    expect(await findInvitation(token)).toMatchObject({
      orgId: organization.id,
      organization: { name: organization.name },
      email,
      role: "write",
      invitedBy: admin.username,
    });
    const guest = await signedInPerson();
    expect(await acceptInvitation(guest.actor, token, from)).toEqual({ orgId: organization.id, name: organization.name });
    expect(await listOrganizations(guest.id)).toMatchObject([{ id: organization.id, role: "write" }]);
    expect(await findInvitation(token)).toMatchObject({ state: "accepted" });
    expect(await auditTrail({ orgId: organization.id })).toEqual([
      "organization.create",
      "organization.invite",
      "organization.accept_invitation",
    ]);
  });

  test("return the link to the administrator only if the installation sends no mail", async () => {
    const { admin, organization, id, token } = await invited();
    const resent = await resendInvitation(admin.actor, organization.id, id, from);
    expect(resent.link).toMatch(/\/invitations\/[\w-]+$/);
    expect(resent.link).not.toContain(token);
    expect(await findInvitation(resent.link?.split("/").at(-1) ?? "")).toMatchObject({ state: "open" });
    provideSettings({ SMTP_URL: "smtps://mail.example:465" });
    expect(
      await createInvitation(admin.actor, organization.id, { email: freshAddress(), role: "read" }, from),
    ).not.toHaveProperty("link");
    provideSettings({ SMTP_URL: "" });
  });

  test("are stored with only a hash of the link's token", async () => {
    const { token } = await invited();
    expect(JSON.stringify(await db().invitation.findMany())).not.toContain(token);
  });

  test("admit exactly one person, even if several people open the link in parallel", async () => {
    const { organization, token } = await invited();
    const guests = await Promise.all([1, 2, 3].map(() => signedInPerson()));
    const uses = guests.flatMap(({ actor }) => [acceptInvitation(actor, token, from), acceptInvitation(actor, token, from)]);
    const ends = await outcomes(uses);
    expect(ends.filter((end) => end === "ok")).toHaveLength(1);
    expect(ends.filter((end) => end === "gone")).toHaveLength(5);
    expect(await db().membership.count({ where: { orgId: organization.id } })).toBe(2);
  });

  test("S112 do not admit a user who is disabled at the same moment", async () => {
    const [{ token }, guest] = [await invited(), await signedInPerson()];
    const [disabled, accepted] = await queueForLock<unknown>(`SELECT FROM "user" WHERE id = '${guest.id}' FOR UPDATE`, [
      () => disableUser(operatorCommand, guest.id, from),
      () => acceptInvitation(guest.actor, token, from),
    ]);
    await disabled;
    await expect(accepted).rejects.toMatchObject({ code: "forbidden" });
    expect(await findInvitation(token)).toMatchObject({ state: "open" });
  });

  test("stay open when an existing member tries to accept them", async () => {
    const { admin, token } = await invited("read");
    await expect(acceptInvitation(admin.actor, token, from)).rejects.toMatchObject({ code: "conflict" });
    expect(await listOrganizations(admin.id)).toMatchObject([{ role: "admin" }]);
    await expect(acceptInvitation((await signedInPerson()).actor, token, from)).resolves.toBeDefined();
  });

  test("are refused with the same error if they are expired, revoked, replaced or unknown", async () => {
    const guest = await signedInPerson();
    const expired = await invited();
    await db().invitation.update({ where: { id: expired.id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    const revoked = await invited();
    await revokeInvitation(revoked.admin.actor, revoked.organization.id, revoked.id, from);
    const replaced = await invited();
    await createInvitation(
      replaced.admin.actor,
      replaced.organization.id,
      { email: replaced.email.toUpperCase(), role: "read" },
      from,
    );
    const states = { expired: expired.token, revoked: revoked.token, replaced: replaced.token, unknown: "nonsense", nul: "\0" };
    const found = await Promise.all(Object.values(states).map(findInvitation));
    expect(found.map((each) => each?.state)).toEqual(["expired", "revoked", "revoked", undefined, undefined]);
    for (const token of Object.values(states)) {
      await expect(acceptInvitation(guest.actor, token, from)).rejects.toMatchObject({ code: "gone" });
    }
    expect((await listInvitations(replaced.admin.actor, replaced.organization.id)).items).toMatchObject([{ role: "read" }]);
  });

  test("expire seven days after they were last sent", async () => {
    const { admin, organization, id, email, token } = await invited();
    const { createdAt, expiresAt } = await db().invitation.findUniqueOrThrow({ where: { id } });
    expect(expiresAt.getTime() - createdAt.getTime()).toBeCloseTo(7 * 24 * 3600 * 1000, -4);
    await db().invitation.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    expect((await listInvitations(admin.actor, organization.id)).items).toMatchObject([{ id, email, isExpired: true }]);
    await resendInvitation(admin.actor, organization.id, id, from);
    const fresh = await linkedToken(email, "invitations");
    expect(fresh).not.toBe(token);
    expect(await findInvitation(token)).toBeUndefined();
    expect(await findInvitation(fresh)).toMatchObject({ state: "open" });
    expect((await listInvitations(admin.actor, organization.id)).items).toMatchObject([{ id, isExpired: false }]);
  });

  test("S56 are sent to an address at most five times a day by one user, over all organizations", async () => {
    const admin = await signedInPerson();
    const [first, second] = [await organizationOf(admin), await organizationOf(admin)];
    const to = { email: "Stranger@example.test", role: "read" };
    const { id } = await createInvitation(admin.actor, first.id, to, from);
    for (let again = 0; again < 2; again++) await createInvitation(admin.actor, second.id, to, from);
    for (let again = 0; again < 2; again++) await resendInvitation(admin.actor, first.id, id, from);
    await expect(createInvitation(admin.actor, second.id, to, from)).rejects.toMatchObject({ code: "rate_limited" });
    await expect(resendInvitation(admin.actor, first.id, id, from)).rejects.toMatchObject({ code: "rate_limited" });
    const other = { email: "somebody@example.test", role: "read" };
    await expect(createInvitation(admin.actor, second.id, other, from)).resolves.toBeDefined();
  });

  test("are refused for the address of a member", async () => {
    const admin = await signedInPerson();
    const { id } = await organizationOf(admin);
    await expect(
      createInvitation(admin.actor, id, { email: admin.email.toUpperCase(), role: "read" }, from),
    ).rejects.toMatchObject({
      code: "conflict",
      field: "email",
    });
  });

  test("are managed only by administrators of the organization", async () => {
    const { admin, organization, id } = await invited();
    const [member, other] = [await signedInPerson(), await signedInPerson()];
    const elsewhere = await organizationOf(other);
    await acceptInvitation(member.actor, (await invitedTo(admin, organization.id)).token, from);
    for (const { actor } of [member, other]) {
      await expect(
        createInvitation(actor, organization.id, { email: freshAddress(), role: "admin" }, from),
      ).rejects.toMatchObject({
        code: "forbidden",
      });
      await expect(listInvitations(actor, organization.id)).rejects.toMatchObject({ code: "forbidden" });
      await expect(revokeInvitation(actor, organization.id, id, from)).rejects.toMatchObject({ code: "forbidden" });
      await expect(resendInvitation(actor, organization.id, id, from)).rejects.toMatchObject({ code: "forbidden" });
    }
    for (const target of [id, newId(), "\0"]) {
      await expect(revokeInvitation(other.actor, elsewhere.id, target, from)).rejects.toMatchObject({ code: "not_found" });
      await expect(resendInvitation(other.actor, elsewhere.id, target, from)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  test("end when any of their senders loses the administrator role", async () => {
    for (const [first, again] of [
      ["admin", "rogue"],
      ["operator", "rogue"],
      ["rogue", "admin"],
    ] as const) {
      const [admin, rogue] = [await signedInPerson(), await signedInPerson()];
      const senders = { admin: admin.actor, rogue: rogue.actor, operator: operatorCommand };
      const organization = await organizationOf(admin, [[rogue, "admin"]]);
      const { id } = await createInvitation(senders[first], organization.id, { email: freshAddress(), role: "admin" }, from);
      const { link = "" } = await resendInvitation(senders[again], organization.id, id, from);
      const token = link.split("/").at(-1) ?? "";
      expect(await findInvitation(token)).toMatchObject({ state: "open" });
      await removeMember(admin.actor, organization.id, rogue.id, from);
      expect([first, again, (await findInvitation(token))?.state]).toEqual([first, again, "revoked"]);
      await expect(acceptInvitation(rogue.actor, token, from)).rejects.toMatchObject({ code: "gone" });
    }
  });

  test("may also come from the operator's command", async () => {
    const { id } = await organizationOf(await signedInPerson());
    const email = freshAddress();
    await createInvitation(operatorCommand, id, { email, role: "read" }, from);
    expect((await emailsTo(email))[0]?.text).toContain("The operator of Keyhook");
    expect(await findInvitation(await linkedToken(email, "invitations"))).toMatchObject({ invitedBy: undefined });
  });

  test.each([
    ["email", { email: "nobody", role: "read" }],
    ["email", { email: "a\0@example.test", role: "read" }],
    ["role", { email: "a@example.test", role: "owner" }],
  ])("are refused with an error that names the field if the %s is invalid", async (field, bad) => {
    const admin = await signedInPerson();
    const { id } = await organizationOf(admin);
    await expect(createInvitation(admin.actor, id, bad, from)).rejects.toMatchObject({ code: "invalid_request", field });
  });
});

async function invitedTo(admin: Awaited<ReturnType<typeof signedInPerson>>, orgId: string) {
  const email = freshAddress();
  await createInvitation(admin.actor, orgId, { email, role: "write" }, from);
  return { token: await linkedToken(email, "invitations") };
}
