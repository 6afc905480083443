import { expect, it } from "vitest";
import { standingsOf } from "../../access/standing-in-organization.ts";
import { from, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { askForAccess, withdrawAccessRequest } from "../../hub/gates/ask-for-access.ts";
import { deleteAccount } from "../../hub/owners/delete-owner.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { findApp } from "./find-app.ts";

it("S136 a member without the required security gets the same response for a private and a missing Space", async () => {
  const [admin, member] = [await signedInPerson(), await signedInPerson()];
  const { id, name: owner } = await organizationOf(admin, [[member, "read"]]);
  const { name } = await someRepo(admin, { type: "space", owner, isPrivate: true });
  await db().organization.update({ where: { id }, data: { requiresSecondStep: true } });
  const session = { ...member.actor, id: member.actor.sessionId, user: { isOperator: false } };
  const token = {
    kind: "token",
    userId: member.id,
    tokenId: "a token",
    scopes: ["read-repos"],
    orgIds: "all",
    clientId: null,
  } as const;
  for (const credentials of [
    { method: "GET" },
    { method: "GET", bySession: async () => session },
    { method: "POST", bySession: async () => session },
    { method: "GET", byToken: async () => ({ ...token, standings: await standingsOf(member.id) }) },
  ]) {
    const [hidden, missing] = await Promise.all(
      [name, "missing"].map((each) =>
        findApp({ owner, name: each, rest: "/" }, credentials).catch(({ code, message }) => [code, message]),
      ),
    );
    expect(hidden).toEqual(missing);
  }
});

it("S137 a stranger who gives up access ends others' visits only at a manual gate", async () => {
  const [owner, visitor, stranger] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
  const repo = await someRepo(owner, { type: "space" });
  const name = { type: "space", owner: owner.username, name: repo.name } as const;
  await db().repo.update({ where: { id: repo.id }, data: { gated: "auto" } });
  const create = { repoId: repo.id, ownerId: owner.id, stage: "SLEEPING" };
  await db().spaceRuntime.upsert({ where: { repoId: repo.id }, create, update: {} });
  await askForAccess(visitor.actor, name, {}, from);
  const visit = async () => {
    const session = { ...visitor.actor, id: visitor.actor.sessionId, user: { isOperator: false } };
    const target = { owner: name.owner, name: name.name, rest: "/" };
    const found = await findApp(target, { method: "GET", bySession: async () => session });
    const rest = found.path.slice(found.path.indexOf("/~"));
    return () => findApp({ ...target, rest }, { method: "POST" }).then(({ kind }) => kind);
  };
  const post = await visit();
  expect(await post()).toBe("app");
  await askForAccess(stranger.actor, name, {}, from);
  await withdrawAccessRequest(stranger.actor, repo.id, from);
  expect(await post()).toBe("app");
  const former = await signedInPerson();
  await askForAccess(former.actor, name, {}, from);
  await deleteAccount(former.actor, former.id, from);
  await expect(post()).rejects.toMatchObject({ code: "unauthorized" });

  await askForAccess(stranger.actor, name, {}, from);
  await db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } });
  const later = await visit();
  await withdrawAccessRequest(stranger.actor, repo.id, from);
  await expect(later()).rejects.toMatchObject({ code: "unauthorized" });
});
