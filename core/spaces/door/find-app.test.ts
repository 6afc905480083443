import { expect, it } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { standingsOf } from "../../access/standing-in-organization.ts";
import { from, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { askForAccess, withdrawAccessRequest } from "../../hub/gates/ask-for-access.ts";
import { deleteAccount } from "../../hub/owners/delete-owner.ts";
import { createRepo } from "../../hub/repos/create-repo.ts";
import { moveRepo } from "../../hub/repos/move-repo.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { receiverAddress } from "../controls/change-runtime.ts";
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

it("S137 a user who gives up access to a gated Space ends others' visits only if the owner grants access by hand", async () => {
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
  const [leaving, removed] = [await signedInPerson(), await signedInPerson()];
  for (const { actor } of [leaving, removed]) await askForAccess(actor, name, {}, from);
  await deleteAccount(leaving.actor, leaving.id, from);
  expect(await post()).toBe("app");
  await deleteAccount(operatorCommand, removed.id, from);
  await expect(post()).rejects.toMatchObject({ code: "unauthorized" });

  await askForAccess(stranger.actor, name, {}, from);
  await db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } });
  const later = await visit();
  await withdrawAccessRequest(stranger.actor, repo.id, from);
  await expect(later()).rejects.toMatchObject({ code: "unauthorized" });
});

it.each([true, false])(
  "S151 what is sent to a former name or key of a Space (private: %s) reaches neither a later Space with the name nor another owner's app",
  async (isPrivate) => {
    const [admin, member] = [await signedInPerson(), await signedInPerson()];
    const { name: owner } = await organizationOf(admin, [[member, "contributor"]]);
    const first = await someRepo(admin, { type: "space", owner, isPrivate });
    const create = { repoId: first.id, ownerId: first.owner.id, stage: "SLEEPING" };
    const runtime = await db().spaceRuntime.upsert({ where: { repoId: first.id }, create, update: {} });
    const post = async ({ name }: { name: string }, rest: string) => findApp({ owner, name, rest }, { method: "POST" });
    const { pathname } = new URL(receiverAddress(first, runtime));
    const key = pathname.slice(pathname.indexOf("/~"));
    expect(await post(first, key)).toMatchObject({ kind: "app", path: "/", repo: { id: first.id } });
    await moveRepo(admin.actor, { type: "space", owner, name: first.name }, { owner, name: `${first.name}-2` }, from);
    expect(await post(first, key)).toMatchObject({ kind: "app", path: "/", repo: { id: first.id } });

    const later = await createRepo(member.actor, { type: "space", owner, name: first.name }, from);
    await expect(post(later, key)).rejects.toMatchObject({ code: "not_found" });
    expect(await findApp({ owner, name: later.name, rest: key }, { method: "GET" })).toEqual({
      kind: "elsewhere",
      path: `/spaces/${later.fullName}/app/`,
    });
    expect(await post(later, "/~member/hook")).toMatchObject({ kind: "app", path: "/~member/hook" });

    await moveRepo(member.actor, { type: "space", owner, name: later.name }, { owner: member.username, name: later.name }, from);
    // A public Space keeps its key when it moves.
    const kept = await db().spaceRuntime.upsert({
      where: { repoId: later.id },
      create: { ...create, repoId: later.id, ownerId: member.id },
      update: {},
    });
    const ofLater = receiverAddress(later, kept);
    await expect(post(later, ofLater.slice(ofLater.indexOf("/~")))).rejects.toMatchObject({ code: "not_found" });
    const path = `/spaces/${member.username}/${later.name}/app/hook`;
    expect(await post(later, "/hook")).toEqual({ kind: "elsewhere", path });
  },
);
