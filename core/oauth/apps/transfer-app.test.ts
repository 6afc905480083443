import { expect, test } from "vitest";
import { noOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { auditOf, giveConsent, longSignedIn, organizationWith, someApp, someone } from "../testing/apps.ts";
import { transferApp } from "./transfer-app.ts";

async function namedOrganization(members: Parameters<typeof organizationWith>[0]) {
  const id = await organizationWith(members);
  const name = `org-${id}`;
  await db().handle.create({ data: { handle: name, orgId: id } });
  return { id, name };
}

async function namedPerson() {
  const username = `u-${newId()}`;
  const person = await someone({ username });
  await db().handle.create({ data: { handle: username, userId: person.userId } });
  return { person, username };
}

test("a transferred app keeps its users, and loses the verified mark", async () => {
  const { person: ada, username } = await namedPerson();
  const organization = await namedOrganization({ [ada.userId]: "admin" });
  const { app } = await someApp(ada);
  const consentId = await giveConsent(app.clientId, ada);
  await db().oAuthApp.update({ where: { id: app.id }, data: { verifiedAt: new Date() } });
  expect(await transferApp(ada, app.id, { owner: organization.name.toUpperCase() }, noOrigin)).toEqual({
    orgName: organization.name,
  });
  expect(await db().oAuthApp.findUnique({ where: { id: app.id } })).toMatchObject({
    ownerUserId: null,
    ownerOrgId: organization.id,
    clientId: app.clientId,
    verifiedAt: null,
  });
  expect(await db().oAuthConsent.findUnique({ where: { id: consentId } })).toMatchObject({ revokedAt: null });
  await expect(transferApp(ada, app.id, { owner: organization.name }, noOrigin)).rejects.toMatchObject({ field: "owner" });
  expect(await transferApp(ada, app.id, { owner: username }, noOrigin)).toEqual({ orgName: null });
  const transfers = (await auditOf(app.clientId)).filter(({ type }) => type === "oauth_app.transfer");
  expect(transfers.map(({ orgId, actorId }) => [orgId, actorId])).toEqual([
    [organization.id, ada.userId],
    [organization.id, ada.userId],
  ]);
});

test("a transfer needs rights at the previous and at the new owner", async () => {
  const [{ person: ada, username: adaName }, { person: bea, username: beaName }] = [await namedPerson(), await namedPerson()];
  const [shared, elsewhere] = [
    await namedOrganization({ [ada.userId]: "admin", [bea.userId]: "write" }),
    await namedOrganization({ [bea.userId]: "admin", [ada.userId]: "write" }),
  ];
  const { app } = await someApp(ada);
  await expect(transferApp(longSignedIn(ada), app.id, { owner: shared.name }, noOrigin)).rejects.toMatchObject({
    code: "reauthentication_required",
  });
  for (const owner of [beaName, elsewhere.name]) {
    await expect(transferApp(ada, app.id, { owner }, noOrigin)).rejects.toMatchObject({ code: "forbidden" });
  }
  for (const owner of ["", "nobody-of-this-name", "\0", "x".repeat(1_000_000)]) {
    await expect(transferApp(ada, app.id, { owner }, noOrigin)).rejects.toMatchObject({ code: "not_found", field: "owner" });
  }
  for (const id of [app.id, newId(), "\0"]) {
    await expect(transferApp(bea, id, { owner: beaName }, noOrigin)).rejects.toMatchObject({ code: "not_found" });
  }
  await transferApp(ada, app.id, { owner: shared.name }, noOrigin);
  await expect(transferApp(bea, app.id, { owner: beaName }, noOrigin)).rejects.toMatchObject({ code: "not_found" });

  await db().oAuthApp.update({ where: { id: app.id }, data: { boundOrgId: shared.id } });
  await expect(transferApp(ada, app.id, { owner: adaName }, noOrigin)).rejects.toMatchObject({ code: "conflict" });
  expect(await db().oAuthApp.findUnique({ where: { id: app.id } })).toMatchObject({
    ownerOrgId: shared.id,
    boundOrgId: shared.id,
  });
});
