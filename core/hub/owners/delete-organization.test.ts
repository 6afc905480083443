import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { createOrganization } from "../../accounts/organizations/create-organization.ts";
import { acceptInvitation, createInvitation } from "../../accounts/organizations/invitations.ts";
import {
  emailsTo,
  freshName,
  from,
  linkedToken,
  organizationOf,
  outcomes,
  signedInPerson,
  staleActor,
} from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { createApp } from "../../oauth/apps/create-app.ts";
import { commitTo, eventsOf, someRepo } from "../testing/repos.ts";
import { countOwned, deleteOrganization } from "./delete-owner.ts";

const appFor = (orgId: string) => ({
  name: "Lantern",
  redirectUris: ["https://app.example.test/cb"],
  scopes: ["openid"],
  owner: { orgId },
});

describe("deleteOrganization", () => {
  test("deletes everything of the organization, with an event for each repository", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada, [[bea, "write"]]);
    const other = await organizationOf(bea);
    const [one, two] = [
      await someRepo(ada, { owner: name }),
      await someRepo(bea, { owner: name, type: "dataset", isPrivate: true }),
    ];
    const own = await someRepo(bea);
    await commitTo(one, ada, { "a.txt": "a" });
    await db().collection.create({ data: { id: newId(), ownerId: id, ownerKind: "organization", slug: "sea", title: "Sea" } });
    await db().webhook.create({
      data: { id: newId(), ownerId: id, ownerKind: "organization", url: "https://x.example", domains: [] },
    });
    await createInvitation(ada.actor, id, { email: `${freshName("x")}@example.test`, role: "read" }, from);
    const { app } = await createApp(ada.actor, appFor(id), from);
    const { app: bound } = await createApp(bea.actor, { ...appFor(other.id), owner: { userId: bea.id } }, from);
    await db().oAuthApp.update({
      where: { id: bound.id },
      data: { boundOrgId: id, privileges: ["token-exchange"], accessTokenSeconds: 30 * 24 * 3600 },
    });
    const consent = { scopes: ["openid"], clientFingerprint: "x", orgIds: [id, other.id], declinedOrgIds: [id] };
    const [theirs, toApp] = [newId(), newId()];
    await db().oAuthConsent.create({ data: { id: theirs, userId: bea.id, clientId: bound.clientId, ...consent } });
    await db().oAuthConsent.create({ data: { id: toApp, userId: bea.id, clientId: app.clientId, ...consent } });
    const grants = { granted: newId(), exchanged: newId() };
    const grant = { userId: bea.id, clientId: bound.clientId, payload: {} };
    await db().oAuthGrant.create({ data: { id: grants.granted, consentId: theirs, orgIds: [id, other.id], ...grant } });
    await db().oAuthGrant.create({ data: { id: grants.exchanged, boundOrgId: id, orgIds: [id], ...grant } });
    await db().organizationAppRequest.create({ data: { orgId: id, clientId: bound.clientId, userId: bea.id } });
    expect(await countOwned(id)).toEqual({ repos: 2, collections: 1, apps: 1, webhooks: 1, members: 2 });

    await deleteOrganization(ada.actor, id, from);

    expect(await countOwned(id)).toEqual({ repos: 0, collections: 0, apps: 0, webhooks: 0, members: 0 });
    expect(await db().organization.count({ where: { id } })).toBe(0);
    expect(await db().invitation.count({ where: { orgId: id } })).toBe(0);
    expect(await db().repoRemoval.count({ where: { repoId: { in: [one.id, two.id] } } })).toBe(2);
    for (const repo of [one, two]) expect((await eventsOf(repo)).at(-1)).toMatchObject({ scope: "repo", action: "delete" });
    expect((await eventsOf(own)).map(({ action }) => action)).toEqual(["create"]);
    expect(await db().oAuthApp.findUnique({ where: { id: bound.id } })).toMatchObject({
      boundOrgId: null,
      privileges: [],
      accessTokenSeconds: null,
    });
    expect(await db().oAuthConsent.findUnique({ where: { id: theirs } })).toMatchObject({
      orgIds: [other.id],
      declinedOrgIds: [],
      revokedAt: null,
    });
    expect((await db().oAuthConsent.findUniqueOrThrow({ where: { id: toApp } })).revokedAt).not.toBeNull();
    expect(await db().oAuthGrant.findUnique({ where: { id: grants.granted } })).toMatchObject({
      orgIds: [other.id],
      revokedAt: null,
    });
    expect((await db().oAuthGrant.findUniqueOrThrow({ where: { id: grants.exchanged } })).revokedAt).not.toBeNull();
    expect((await emailsTo(ada.email))[0]?.subject).toBe(`The organization ${name} was deleted`);

    const [last] = await db().auditEvent.findMany({
      where: { orgId: id },
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      take: 1,
    });
    expect(last).toMatchObject({
      type: "organization.delete",
      actorId: ada.id,
      data: { name, members: 2, apps: 1, repos: 2, collections: 1, webhooks: 1 },
    });
    await expect(createOrganization(ada.actor, { name }, from)).rejects.toMatchObject({ code: "conflict", field: "name" });
  });

  test("requires an administrator with a recent authentication, or the operator", async () => {
    const [ada, bea, stranger] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const { id } = await organizationOf(ada, [[bea, "write"]]);
    await expect(deleteOrganization(staleActor(ada.actor), id, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    for (const { actor } of [bea, stranger]) {
      for (const target of [id, newId(), "\0"]) {
        await expect(deleteOrganization(actor, target, from)).rejects.toMatchObject({ code: "forbidden" });
      }
    }
    expect(await db().organization.count({ where: { id } })).toBe(1);
    await deleteOrganization(operatorCommand, id, from);
    for (const target of [id, newId()]) {
      await expect(deleteOrganization(operatorCommand, target, from)).rejects.toMatchObject({ code: "not_found" });
    }
  });

  test("leaves nothing of what is created for the organization meanwhile", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const { id, name } = await organizationOf(ada);
    const email = `${freshName("x")}@example.test`;
    await createInvitation(ada.actor, id, { email, role: "read" }, from);
    const token = await linkedToken(email, "invitations");
    const ends = await outcomes([
      deleteOrganization(ada.actor, id, from),
      deleteOrganization(ada.actor, id, from),
      acceptInvitation(bea.actor, token, from),
      ...Array.from({ length: 6 }, () => someRepo(ada, { owner: name, name: freshName("late") })),
      ...Array.from({ length: 4 }, () => createApp(ada.actor, appFor(id), from)),
    ]);
    const expected = ["ok", "not_found", "gone", "forbidden"];
    expect(ends.filter((end) => !expected.includes(end))).toEqual([]);
    expect(await countOwned(id)).toEqual({ repos: 0, collections: 0, apps: 0, webhooks: 0, members: 0 });
  });
});

test("S137 a large organization is deleted in portions, and another attempt continues", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const { id } = await organizationOf(ada, [[bea, "write"]]);
  const left = () => db().collection.count({ where: { ownerId: id } });
  const addCollections = (count: number) =>
    db().collection.createMany({
      data: Array.from({ length: count }, () => ({
        id: newId(),
        ownerId: id,
        ownerKind: "organization",
        slug: "sea",
        title: "Sea",
      })),
    });
  await addCollections(120);
  await expect(deleteOrganization(bea.actor, id, from)).rejects.toMatchObject({ code: "forbidden" });
  expect(await left()).toBe(120);
  const client = await pool().connect();
  try {
    await client.query("begin");
    await client.query("select from organization where id = $1 for key share", [id]);
    const deletion = deleteOrganization(ada.actor, id, from).catch(() => "interrupted");
    const waiting = "pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await pool().query(`select ${waiting}`)).rowCount).toBe(1);
    expect(await left()).toBe(20);
    await pool().query(`select pg_cancel_backend(pid) from (select ${waiting}) waiting`);
    expect(await deletion).toBe("interrupted");
  } finally {
    client.release(true);
  }
  await addCollections(60);
  await deleteOrganization(ada.actor, id, from);
  expect(await left()).toBe(0);
  const entry = await db().auditEvent.findFirstOrThrow({ where: { type: "organization.delete", orgId: id } });
  expect(entry.data).toMatchObject({ collections: 80, repos: 0 });
});
