import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import {
  auditTrail,
  freshName,
  from,
  organizationOf,
  outcomes,
  signedInPerson,
  staleActor,
} from "../../accounts/testing/people.ts";
import { disableUser } from "../../accounts/users/disable-user.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { commitTo, eventsOf, someRepo } from "../testing/repos.ts";
import { deleteAccount } from "./delete-owner.ts";

const rows = (ownerId: string) => db().repo.count({ where: { ownerId } });

describe("S112 deleteAccount", () => {
  test("deletes what the user owns, with an event for each repository", async () => {
    const ada = await signedInPerson();
    const organization = await organizationOf(await signedInPerson("bea"), [[ada, "write"]]);
    const [one, two] = [await someRepo(ada), await someRepo(ada, { type: "dataset", isPrivate: true })];
    const shared = await someRepo(ada, { owner: organization.name });
    await commitTo(one, ada, { "a.txt": "a" });
    const collection = { id: newId(), ownerId: ada.id, ownerKind: "user", slug: "sea", title: "Sea" };
    await db().collection.create({ data: collection });
    const app = { name: "Tide", scopes: ["openid"], redirectUris: [], ownerUserId: ada.id, boundOrgId: organization.id };
    await db().oAuthApp.create({ data: { id: newId(), clientId: newId(), ...app } });
    await deleteAccount(ada.actor, ada.id, from);
    expect(await auditTrail({ orgId: organization.id })).toContain("oauth_app.delete");
    expect(await rows(ada.id)).toBe(0);
    expect(await db().collection.count({ where: { ownerId: ada.id } })).toBe(0);
    expect(await db().repoRemoval.count({ where: { repoId: { in: [one.id, two.id] } } })).toBe(2);
    for (const repo of [one, two]) expect((await eventsOf(repo)).at(-1)).toMatchObject({ scope: "repo", action: "delete" });
    expect(await rows(organization.id)).toBe(1);
    expect((await eventsOf(shared)).map(({ action }) => action)).toEqual(["create"]);
  });

  test("leaves the user's comments in other repositories without an author", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(bea);
    const discussion = { id: newId(), repoId: repo.id, num: 1, title: "High water?", authorId: ada.id };
    await db().discussion.create({ data: discussion });
    const comment = { id: newId(), discussionId: discussion.id, type: "comment", authorId: ada.id, content: "When?" };
    await db().discussionEvent.create({ data: comment });
    await db().commentReaction.create({ data: { commentId: comment.id, userId: ada.id, reaction: "👍" } });
    await db().accessRequest.create({ data: { id: newId(), repoId: repo.id, userId: ada.id, status: "accepted" } });
    const day = new Date("2026-11-01");
    await db().inferenceUsage.create({ data: { userId: ada.id, day, clientId: "", orgId: "", model: "tide" } });
    await db().inferenceMeter.create({ data: { ownerId: ada.id, month: day } });
    await deleteAccount(ada.actor, ada.id, from);
    expect(await db().inferenceUsage.count({ where: { userId: ada.id } })).toBe(0);
    expect(await db().inferenceMeter.count({ where: { ownerId: ada.id } })).toBe(0);
    expect(await db().discussion.findUnique({ where: { id: discussion.id } })).toMatchObject({
      authorId: null,
      title: "High water?",
    });
    expect(await db().discussionEvent.findUnique({ where: { id: comment.id } })).toMatchObject({
      authorId: null,
      content: "When?",
    });
    expect(await db().commentReaction.count({ where: { userId: ada.id } })).toBe(0);
    expect(await db().accessRequest.count({ where: { userId: ada.id } })).toBe(0);
  });

  test("deletes nothing if the account cannot be deleted", async () => {
    const ada = await signedInPerson();
    await organizationOf(ada);
    await someRepo(ada);
    await expect(deleteAccount(ada.actor, ada.id, from)).rejects.toMatchObject({ code: "conflict" });
    const bea = await signedInPerson("bea");
    await someRepo(bea);
    await expect(deleteAccount(staleActor(bea.actor), bea.id, from)).rejects.toMatchObject({
      code: "reauthentication_required",
    });
    await expect(deleteAccount(ada.actor, bea.id, from)).rejects.toMatchObject({ code: "not_found" });
    expect([await rows(ada.id), await rows(bea.id)]).toEqual([1, 1]);
  });

  test("deletes a large account in portions, and another attempt continues", { timeout: 60_000 }, async () => {
    const ada = await signedInPerson();
    const ids = Array.from({ length: 1_100 }, () => newId()).sort();
    const about = { type: "model", ownerId: ada.id, ownerKind: "user" };
    await db().repo.createMany({ data: ids.map((id) => ({ id, ...about, name: id, nameCanonical: id })) });
    const repo = await someRepo(await signedInPerson("bea"));
    const discussion = { id: newId(), repoId: repo.id, num: 1, title: "High water?" };
    await db().discussion.create({ data: discussion });
    const comment = { discussionId: discussion.id, type: "comment", authorId: ada.id, content: "When?" };
    await db().discussionEvent.createMany({ data: Array.from({ length: 5_001 }, () => ({ id: newId(), ...comment })) });
    const client = await pool().connect();
    try {
      await client.query("begin");
      await client.query("select from repo where id = $1 for update", [ids.at(-1)]);
      const deletion = deleteAccount(ada.actor, ada.id, from).catch(() => "interrupted");
      await expect.poll(() => rows(ada.id), { timeout: 10_000 }).toBe(100);
      expect(await db().discussionEvent.count({ where: { authorId: ada.id } })).toBe(1);
      const waiting = "pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(async () => (await pool().query(`select ${waiting}`)).rowCount).toBe(1);
      await pool().query(`select pg_cancel_backend(pid) from (select ${waiting}) waiting`);
      expect(await deletion).toBe("interrupted");
      expect(await rows(ada.id)).toBe(100);
      expect(await db().user.count({ where: { id: ada.id } })).toBe(1);
    } finally {
      client.release(true);
    }
    await deleteAccount(ada.actor, ada.id, from);
    expect(await rows(ada.id)).toBe(0);
    expect(await db().event.count({ where: { ownerId: ada.id, action: "delete" } })).toBe(1_100);
  });

  test("deletes the repositories of a disabled user too, and those that are created meanwhile", async () => {
    const ada = await signedInPerson();
    await db().repo.createMany({
      data: Array.from({ length: 1_100 }, (_, index) => ({
        id: newId(),
        type: "model",
        ownerId: ada.id,
        ownerKind: "user",
        name: `r${index}`,
        nameCanonical: `r${index}`,
      })),
    });
    await disableUser(operatorCommand, ada.id, from);
    await deleteAccount(operatorCommand, ada.id, from);
    expect(await rows(ada.id)).toBe(0);
    expect(await db().event.count({ where: { ownerId: ada.id, action: "delete" } })).toBe(1_100);

    const bea = await signedInPerson("bea");
    const made = Array.from({ length: 8 }, () => someRepo(bea, { name: freshName("late") }));
    const ends = await outcomes([deleteAccount(bea.actor, bea.id, from), ...made]);
    expect(ends).toContain("ok");
    expect(ends.every((end) => end === "ok" || end === "not_found")).toBe(true);
    expect(await rows(bea.id)).toBe(0);
  });
});
