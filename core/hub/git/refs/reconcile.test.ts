import { access, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import { newId } from "../../../ids.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { changeRefs } from "./change-refs.ts";
import { updateRefs } from "./git-refs.ts";
import { reconcileRefUpdates } from "./reconcile.ts";
import type { RefChange } from "./ref-name.ts";

/** S122: the outcome of a killed process's change is found from the refs and later changes. */
let ada: TestPerson;
let repo: Repo;
let path: string;
let shas: [string, string, string];
beforeEach(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
  path = await openRepository(repo);
  const first = await commitTo(repo, ada, { "a.txt": "1" });
  const second = await commitTo(repo, ada, { "a.txt": "2" });
  shas = [first, second, await commitTo(repo, ada, { "a.txt": "3" })];
  // Waits until the millisecond of these commits is over.
  await new Promise((resolve) => setTimeout(resolve, 5));
});

const side = (oldSha: string | null, newSha: string | null, ref = "refs/heads/side"): RefChange => ({ ref, oldSha, newSha });

async function leaveNote(asked: RefChange[], { startedAt = new Date(), isAlive = false } = {}): Promise<string> {
  const id = newId();
  const claimedUntil = new Date(isAlive ? Date.now() + 60_000 : 0);
  await db().refUpdate.create({ data: { id, repoId: repo.id, actorId: ada.id, asked, startedAt, claimedUntil } });
  return id;
}

async function recorded(): Promise<RefChange[][]> {
  const events = (await eventsOf(repo)).filter(({ scope }) => scope === "repo.content").slice(3);
  return events.map(({ payload }) => (payload as { updatedRefs: RefChange[] }).updatedRefs);
}

const notes = () => db().refUpdate.count({ where: { repoId: repo.id } });
const pushed = (...changes: RefChange[]) => changeRefs(repo, ada.actor, changes, () => updateRefs(path, changes));

test("a change that did not happen is not recorded", async () => {
  await leaveNote([side(null, shas[0])]);
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([]);
  expect(await notes()).toBe(0);
});

test("a change that happened is recorded once, even by several processes", async () => {
  await leaveNote([side(null, shas[0])]);
  await updateRefs(path, [side(null, shas[0])]);
  await Promise.all([reconcileRefUpdates(), reconcileRefUpdates(), reconcileRefUpdates()]);
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([[side(null, shas[0])]]);
  expect(await notes()).toBe(0);
  await fsck(repo);
});

test("only the refs that have changed are recorded, in one event", async () => {
  const asked = Array.from({ length: 20 }, (_, index) => side(null, shas[0], `refs/heads/b${index}`));
  await leaveNote(asked);
  await updateRefs(path, asked.slice(0, 7));
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([asked.slice(0, 7)]);
});

test("S137 refs whose names are too long for one event are recorded in several", async () => {
  const asked = Array.from({ length: 900 }, (_, index) => side(null, shas[0], `refs/heads/${"x".repeat(200)}/${1_000 + index}`));
  await leaveNote(asked);
  await updateRefs(path, asked);
  await reconcileRefUpdates();
  const events = await recorded();
  expect(events.flat()).toEqual(asked);
  expect(events.map((refs) => JSON.stringify(refs).length <= 260 * 1024)).toEqual([true, true]);
});

test("a deletion that happened is recorded", async () => {
  await pushed(side(null, shas[0]));
  await leaveNote([side(shas[0], null)], { startedAt: new Date(Date.now() + 5) });
  await updateRefs(path, [side(shas[0], null)]);
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([[side(null, shas[0])], [side(shas[0], null)]]);
});

test("a change that another process has recorded is not recorded again", async () => {
  await leaveNote([side(null, shas[0])]);
  await pushed(side(null, shas[0]));
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([[side(null, shas[0])]]);
});

test("a change that was overwritten is recorded", async () => {
  await leaveNote([side(null, shas[0])]);
  await updateRefs(path, [side(null, shas[0])]);
  await pushed(side(shas[0], shas[1]));
  await reconcileRefUpdates();
  expect((await recorded()).flat()).toEqual([side(shas[0], shas[1]), side(null, shas[0])]);
});

test("a change that did not happen is not recorded, even if the ref got the same value in another way", async () => {
  await pushed(side(null, shas[0]));
  await leaveNote([side(shas[0], shas[2])], { startedAt: new Date(Date.now() + 5) });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await pushed(side(shas[0], shas[1]));
  await pushed(side(shas[1], shas[2]));
  await reconcileRefUpdates();
  expect(await recorded()).toHaveLength(3);
});

test("two changes of killed processes are both recorded", async () => {
  await leaveNote([side(null, shas[0])], { startedAt: new Date(Date.now() - 2_000) });
  await leaveNote([side(shas[0], shas[1])], { startedAt: new Date(Date.now() - 1_000) });
  await updateRefs(path, [side(null, shas[0])]);
  await updateRefs(path, [side(shas[0], shas[1])]);
  await reconcileRefUpdates();
  expect((await recorded()).flat()).toHaveLength(2);
});

test("reconciliation waits while a live process changes the same ref", async () => {
  await leaveNote([side(null, shas[0])], { startedAt: new Date(Date.now() - 1_000) });
  await updateRefs(path, [side(null, shas[0])]);
  const alive = await leaveNote([side(shas[0], shas[1])], { isAlive: true });
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([]);
  expect(await notes()).toBe(2);
  await db().refUpdate.delete({ where: { id: alive } });
  await db().refUpdate.updateMany({ where: { repoId: repo.id }, data: { claimedUntil: new Date(0) } });
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([[side(null, shas[0])]]);
});

test("a change of a process that was wrongly presumed dead is recorded once", async () => {
  const failing = changeRefs(repo, ada.actor, [side(null, shas[0])], async () => {
    await updateRefs(path, [side(null, shas[0])]);
    throw new Error("killed");
  });
  await expect(failing).rejects.toThrow("killed");
  expect(await notes()).toBe(1);
  const expire = () => db().refUpdate.updateMany({ where: { repoId: repo.id }, data: { claimedUntil: new Date(0) } });
  await expire();
  await reconcileRefUpdates();
  expect(await recorded()).toEqual([[side(null, shas[0])]]);
  const both = [side(shas[0], shas[1]), side(null, shas[0], "refs/heads/late")];
  await changeRefs(repo, ada.actor, both, async () => {
    await updateRefs(path, both.slice(0, 1));
    await expire();
    await reconcileRefUpdates();
    await updateRefs(path, both.slice(1));
    return both;
  });
  expect((await recorded()).slice(1)).toEqual([both.slice(0, 1), both.slice(1)]);
  expect(await notes()).toBe(0);
});

test("S137 a change that is refused before its start leaves no note", async () => {
  await pushed(side(null, shas[0]));
  await expect(pushed(side(null, shas[0], "refs/heads/side/more"))).rejects.toMatchObject({ code: "conflict" });
  expect(await notes()).toBe(0);
});

test("S137 one user's notes do not delay another's", async () => {
  const bea = await signedInPerson("bea");
  const asked = [side(null, shas[0])];
  const left = (actorId: string, count: number, claimedUntil: Date) =>
    Array.from({ length: count }, () => ({ id: newId(), repoId: repo.id, actorId, asked, claimedUntil }));
  await db().refUpdate.deleteMany();
  await db().refUpdate.createMany({ data: [...left(ada.id, 70, new Date(0)), ...left(bea.id, 1, new Date(1_000))] });
  expect(await reconcileRefUpdates()).toBe(true);
  expect(await db().refUpdate.groupBy({ by: ["actorId"], _count: true })).toEqual([{ actorId: ada.id, _count: 7 }]);
  expect(await reconcileRefUpdates()).toBe(false);
  expect(await notes()).toBe(0);
});

test("a lock that a killed process left does not block the ref", async () => {
  const lock = join(path, "refs/heads/main.lock");
  await writeFile(lock, "");
  // The process renewed the lease 30 seconds ago, and was killed within the next ten seconds.
  const atEnd = new Date(Date.now() - 21_000);
  await utimes(lock, atEnd, atEnd);
  const fresh = join(path, "refs/heads/other.lock");
  await writeFile(fresh, "");
  await leaveNote([side(shas[2], shas[0], "refs/heads/main")]);
  await reconcileRefUpdates();
  await expect(access(lock)).rejects.toThrow();
  await access(fresh);
  await runGit(path, ["update-ref", "refs/heads/main", shas[1]]);
});

test("notes of a deleted repository are dropped", async () => {
  await leaveNote([side(null, shas[0])]);
  await db().repo.delete({ where: { id: repo.id } });
  await reconcileRefUpdates();
  await expect(changeRefs(repo, ada.actor, [side(null, shas[0])], async () => [])).rejects.toMatchObject({ code: "not_found" });
});
