import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { auditTrail, freshName, from, organizationOf, outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { deleteRepo } from "./change-repo.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { moveRepo } from "./move-repo.ts";
import type { Repo } from "./repo.ts";

const nameOf = ({ type, owner, name }: Pick<Repo, "type" | "owner" | "name">): RepoName => ({ type, owner: owner.handle, name });

describe("moveRepo", () => {
  test("to another name lets the old name lead to the repository until another one takes it", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { name: "tide" });
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const moved = await moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name: "moon" }, from);
    expect(moved).toMatchObject({ id: repo.id, fullName: `${ada.username}/moon`, headSha: sha });
    await fsck(moved);
    expect(await findRepo(ada.actor, nameOf(repo))).toMatchObject({ id: repo.id, name: "moon" });
    const [, , event] = await eventsOf(repo);
    expect(eventPayloadSchema.parse(event?.payload)).toMatchObject({
      event: { scope: "repo", action: "move" },
      repo: { id: repo.id, name: repo.fullName, owner: { id: ada.id } },
      movedTo: { name: `${ada.username}/moon`, owner: { id: ada.id } },
    });
    const second = await someRepo(ada, { name: "Tide" });
    expect((await findRepo(ada.actor, nameOf(repo))).id).toBe(second.id);
    await deleteRepo(ada.actor, nameOf(second), from);
    await expect(findRepo(ada.actor, nameOf(repo))).rejects.toMatchObject({ code: "not_found" });
  });

  test("there and back leaves no former name that equals the current one", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { name: "tide" });
    for (const name of ["moon", "tide", "Tide"]) await moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name }, from);
    expect(await findRepo(ada.actor, nameOf(repo))).toMatchObject({ id: repo.id, name: "Tide" });
    expect(await db().repoFormerName.findMany({ where: { repoId: repo.id }, select: { nameCanonical: true } })).toEqual([
      { nameCanonical: "moon" },
    ]);
    await moveRepo(ada.actor, nameOf(repo), { owner: ada.username.toUpperCase(), name: "Tide" }, from);
    expect(await eventsOf(repo)).toHaveLength(4);
  });

  test("S137 keeps the latest 100 former names", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { name: "tide" });
    await pool().query(
      `INSERT INTO repo_former_name (owner_id, type, name_canonical, repo_id, created_at)
       SELECT $1, 'model', 'former-' || n, $2, now() - make_interval(secs => n) FROM generate_series(1, 100) n`,
      [ada.id, repo.id],
    );
    await moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name: "moon" }, from);
    const names = (await db().repoFormerName.findMany({ where: { repoId: repo.id } })).map(({ nameCanonical }) => nameCanonical);
    expect([names.length, names.includes("tide"), names.includes("former-99"), names.includes("former-100")]).toEqual([
      ...[100, true, true, false],
    ]);
  });

  test("S100 to another owner removes the trusted publishers", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const organization = await organizationOf(ada, [[bea, "contributor"]]);
    const repo = await someRepo(bea);
    const publisher = { preset: "oidc", issuer: "https://ci.example.com", claims: { project: "7" }, repoId: repo.id };
    const { id: publisherId } = await db().trustedPublisher.create({ data: { id: newId(), ...publisher } });
    const job = { tokenHash: newId(), last4: "aked", publisherId, repoId: repo.id, description: "run 7" };
    await db().ciToken.create({ data: { id: newId(), ...job, expiresAt: new Date(Date.now() + 60_000) } });
    const renamed = await moveRepo(bea.actor, nameOf(repo), { owner: bea.username, name: freshName("moon") }, from);
    expect(await db().ciToken.count({ where: { repoId: repo.id } })).toBe(1);
    await moveRepo(bea.actor, nameOf(renamed), { owner: organization.name, name: renamed.name }, from);
    expect(await db().trustedPublisher.count({ where: { repoId: repo.id } })).toBe(0);
    expect(await db().ciToken.count({ where: { repoId: repo.id } })).toBe(0);
    const [entry] = await db().auditEvent.findMany({ where: { orgId: organization.id, type: "repo.move" } });
    expect(entry?.data).toMatchObject({ endedPublishers: 1 });
  });

  test("S135 to another owner requires rights at both owners", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const organization = await organizationOf(ada, [
      [bea, "contributor"],
      [cy, "read"],
    ]);
    const go = async (person: typeof ada) => {
      const repo = await someRepo(person, { isPrivate: true });
      return { repo, moved: moveRepo(person.actor, nameOf(repo), { owner: organization.name, name: repo.name }, from) };
    };
    await expect((await go(cy)).moved).rejects.toMatchObject({ code: "forbidden" });
    await expect((await go(await signedInPerson("dan"))).moved).rejects.toMatchObject({ code: "forbidden" });
    const { repo, moved } = await go(bea);
    expect(await moved).toMatchObject({ owner: { kind: "organization", id: organization.id } });
    expect((await auditTrail({ orgId: organization.id })).at(-1)).toBe("repo.move");
    await expect(moveRepo(cy.actor, nameOf(await moved), { owner: cy.username, name: "mine" }, from)).rejects.toMatchObject({
      code: "forbidden",
    });
    const stranger = await signedInPerson("eve");
    await expect(moveRepo(stranger.actor, nameOf(repo), { owner: stranger.username, name: "x" }, from)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(moveRepo(ada.actor, nameOf(await moved), { owner: bea.username, name: "x" }, from)).rejects.toMatchObject({
      code: "forbidden",
    });
    await expect(moveRepo(ada.actor, nameOf(await moved), { owner: freshName("none"), name: "x" }, from)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("to one name succeeds for one of twenty simultaneous requests", async () => {
    const ada = await signedInPerson();
    const repos = await Promise.all(Array.from({ length: 20 }, () => someRepo(ada)));
    const ends = await outcomes(
      repos.map((repo) => moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name: "the-one" }, from)),
    );
    expect(ends).toEqual([...Array.from({ length: 19 }, () => "conflict"), "ok"]);
    for (const repo of repos) expect((await findRepo(ada.actor, nameOf(repo))).id).toBe(repo.id);
    expect(await db().event.count({ where: { ownerId: ada.id, action: "move" } })).toBe(1);
  });

  test("and a simultaneous deletion do not both succeed", async () => {
    const ada = await signedInPerson();
    for (let round = 0; round < 5; round++) {
      const repo = await someRepo(ada);
      const ends = await Promise.allSettled([
        moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name: freshName("moved") }, from),
        deleteRepo(ada.actor, nameOf(repo), from),
      ]);
      const isMoved = ends[0].status === "fulfilled";
      expect(ends[1].status).toBe(isMoved ? "rejected" : "fulfilled");
      expect((await eventsOf(repo)).map(({ action }) => action)).toEqual(["create", isMoved ? "move" : "delete"]);
      expect(await db().repo.count({ where: { id: repo.id } })).toBe(isMoved ? 1 : 0);
      expect(await db().repoFormerName.count({ where: { repoId: repo.id } })).toBe(isMoved ? 1 : 0);
      expect(await db().repoRemoval.count({ where: { repoId: repo.id } })).toBe(isMoved ? 0 : 1);
    }
  });

  test.each([
    "",
    "..",
    "a..b",
    ".git",
    "tide.git",
    "tide.lock",
    "a/b",
    "a b",
    "café",
    "cafe\u0301",
    "🌊",
    "-x",
    "x-",
    "settings",
    "new",
    "x".repeat(97),
    "x".repeat(10_000),
    "a\0b",
    "\ud800",
    "%2e%2e",
  ])("S137 S138 refuses the name %j", async (name) => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await expect(moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name }, from)).rejects.toMatchObject({
      code: "invalid_request",
      field: "name",
    });
    await expect(someRepo(ada, { name })).rejects.toMatchObject({ code: "invalid_request", field: "name" });
  });
});

describe("deleteRepo", () => {
  test("refuses a former name of the repository", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const moved = await moveRepo(ada.actor, nameOf(repo), { owner: ada.username, name: "moon" }, from);
    await expect(deleteRepo(ada.actor, nameOf(repo), from)).rejects.toMatchObject({
      code: "not_found",
      wireCode: "RepoNotFound",
    });
    await deleteRepo(ada.actor, { ...nameOf(moved), owner: ada.username.toUpperCase(), name: "MOON" }, from);
    expect(await db().repo.count({ where: { id: repo.id } })).toBe(0);
  });

  test("deletes the repository with one event, and frees its name", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    await expect(deleteRepo(bea.actor, nameOf(repo), from)).rejects.toMatchObject({ code: "forbidden" });
    const ends = await outcomes([1, 2, 3].map(() => deleteRepo(ada.actor, nameOf(repo), from)));
    expect(ends).toEqual(["not_found", "not_found", "ok"]);
    await expect(findRepo(ada.actor, nameOf(repo))).rejects.toMatchObject({ code: "not_found" });
    const events = await eventsOf(repo);
    expect(events.map(({ action }) => action)).toEqual(["create", "update", "delete"]);
    expect(eventPayloadSchema.parse(events.at(-1)?.payload)).toMatchObject({ repo: { name: repo.fullName, headSha: sha } });
    expect(await someRepo(ada, { name: repo.name })).toMatchObject({ fullName: repo.fullName });
  });

  test("S137 deletes most of what strangers wrote in short transactions, and continues after an interruption", async () => {
    const ada = await signedInPerson();
    const [repo, other] = [await someRepo(ada), await someRepo(ada)];
    const commentsOf = async ({ id: repoId }: Repo, count: number) => {
      const { id: discussionId } = await db().discussion.create({ data: { id: newId(), repoId, num: 1, title: "High water?" } });
      const comment = { discussionId, type: "comment", content: "When?" };
      await db().discussionEvent.createMany({ data: Array.from({ length: count }, () => ({ id: newId(), ...comment })) });
      return { discussionId, left: () => db().discussionEvent.count({ where: { discussionId } }) };
    };
    const [theirs, others] = [await commentsOf(repo, 2_500), await commentsOf(other, 1_001)];
    const stores = Array.from({ length: 22 }, () => newId());
    const about = { type: "proposals", ownerId: ada.id, ownerKind: "user", proposedToId: repo.id };
    await db().repo.createMany({ data: stores.map((id) => ({ id, ...about, name: id, nameCanonical: id })) });
    const client = await pool().connect();
    try {
      await client.query("begin");
      await client.query("select from discussion where id = $1 for key share", [theirs.discussionId]);
      const deletion = deleteRepo(ada.actor, nameOf(repo), from).catch(() => "interrupted");
      const waiting = "pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(async () => (await pool().query(`select ${waiting}`)).rowCount).toBe(1);
      expect(await theirs.left()).toBe(500);
      expect(await db().repo.count({ where: { proposedToId: repo.id } })).toBe(2);
      await pool().query(`select pg_cancel_backend(pid) from (select ${waiting}) waiting`);
      expect(await deletion).toBe("interrupted");
    } finally {
      client.release(true);
    }
    expect(await db().repo.count({ where: { id: repo.id } })).toBe(1);
    await deleteRepo(ada.actor, nameOf(repo), from);
    expect([await theirs.left(), await others.left()]).toEqual([0, 1_001]);
  });
});
