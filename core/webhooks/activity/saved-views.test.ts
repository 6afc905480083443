import { beforeAll, expect, test } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { newId } from "../../ids.ts";
import { deleteView, listSavedViews, SAVED_VIEWS_MAX, saveView } from "./saved-views.ts";

let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  [ada, grace] = await Promise.all([signedInPerson("ada"), signedInPerson("grace")]);
});

async function webhookOf(owner: { id: string }, ownerKind: "user" | "organization"): Promise<string> {
  const id = newId();
  await db().webhook.create({ data: { id, ownerId: owner.id, ownerKind, url: "https://hooks.example/x", domains: ["repo"] } });
  return id;
}

test("a view belongs to one user, even if others can see the webhook", async () => {
  const organization = await organizationOf(ada);
  await db().membership.create({ data: { orgId: organization.id, userId: grace.id, role: "admin" } });
  const id = await webhookOf(organization, "organization");
  const of = { ownerId: organization.id };
  await saveView(ada.actor, id, { name: " Failed  pushes ", query: "?status=failed" }, of);
  await saveView(grace.actor, id, { name: "Slow", query: "?status=5xx" }, of);
  expect(await listSavedViews(ada.actor, id)).toEqual([{ name: "Failed pushes", query: "?status=failed" }]);
  await deleteView(ada.actor, id, "Slow", of);
  expect(await listSavedViews(grace.actor, id)).toHaveLength(1);
});

test("saving the same name replaces the filters, and deleting a webhook deletes its views", async () => {
  const id = await webhookOf(ada, "user");
  const of = { ownerId: ada.id };
  for (const query of ["?status=failed", "?status=4xx"]) await saveView(ada.actor, id, { name: "Mine", query }, of);
  expect(await listSavedViews(ada.actor, id)).toEqual([{ name: "Mine", query: "?status=4xx" }]);
  await deleteView(ada.actor, id, "Mine", of);
  await deleteView(ada.actor, id, "Mine", of);
  expect(await listSavedViews(ada.actor, id)).toEqual([]);
  await saveView(ada.actor, id, { name: "Mine", query: "" }, of);
  await db().webhook.delete({ where: { id } });
  expect(await listSavedViews(ada.actor, id)).toEqual([]);
});

test("S136 only users who may see a webhook can save or delete its views", async () => {
  const id = await webhookOf(ada, "user");
  for (const ownerId of [ada.id, grace.id]) {
    await expect(saveView(grace.actor, id, { name: "Hers", query: "" }, { ownerId })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(deleteView(grace.actor, id, "Hers", { ownerId })).rejects.toMatchObject({ code: "not_found" });
  }
});

test("S143 a user has a limited number of views, whose names are short and not empty", async () => {
  const id = await webhookOf(ada, "user");
  const of = { ownerId: ada.id };
  const save = (name: string) => saveView(ada.actor, id, { name, query: "?text=tide" }, of);
  await Promise.all(Array.from({ length: SAVED_VIEWS_MAX - 1 }, (_, index) => save(`View ${index}`)));
  const last = await Promise.allSettled([save("One"), save("Another")]);
  expect(last.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  await save("View 0");
  await expect(save("One more")).rejects.toMatchObject({ code: "conflict", field: "name" });
  for (const name of ["", "  ", "x".repeat(41)]) {
    await expect(save(name)).rejects.toMatchObject({ code: "invalid_request", field: "name" });
  }
});
