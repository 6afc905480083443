import { execFileSync } from "node:child_process";
import { access, mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { organizationOf, signedInPerson } from "../../../accounts/testing/people.ts";
import { db, pool } from "../../../db.ts";
import { fairQueue } from "../../../fair-queue/fair-queue.ts";
import { newId } from "../../../ids.ts";
import { log } from "../../../log.ts";
import { claimRows } from "../../../postgres/leased-table.ts";
import { readRepo } from "../../repos/read-repos.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
import { countObjects, recountRepository } from "../count-objects.ts";
import { listRefs } from "../refs/git-refs.ts";
import { entriesOfRefs } from "../refs/loose-refs.ts";
import { openRepository, repositoryPath } from "../repository.ts";
import { runGit } from "../run-git.ts";
import {
  type DueMaintenance,
  maintainRepository,
  maintenanceTable,
  scheduleMaintenanceSoon,
  tidy,
} from "./maintain-repository.ts";
import { removeDeletedRepositories, removeStaleFiles } from "./remove-files.ts";

const longAgo = new Date(Date.now() - 30 * 24 * 60 * 60 * 1000);
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test("the objects of many commits are combined into one pack", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const path = await openRepository(repo);
  for (let each = 0; each < 4; each++) await commitTo(repo, ada, { [`f${each}.txt`]: `${each}` });
  const refs = await listRefs(path);
  await utimes(join(path, "config"), longAgo, longAgo);
  expect(await tidy(path)).toBe("collected");
  expect(await countObjects(path)).toMatchObject({ loose: 0, packs: 1 });
  for (let each = 0; each < 9; each++) await commitTo(repo, ada, { [`g${each}.txt`]: "x".repeat(each * 100) });
  // fast-import leaves either a few loose objects or a pack.
  const before = await countObjects(path);
  expect(before.packs + before.loose).toBeGreaterThan(8);
  const done = await tidy(path);
  expect(before.packs > 8 || before.loose > 200 ? ["repacked"] : ["nothing"]).toContain(done);
  expect([...(await listRefs(path)).keys()]).toEqual([...refs.keys()]);
  await fsck(repo);
});

test("S137 many loose refs are packed, even if there are few objects", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  const path = await openRepository(repo);
  const { bytes } = await countObjects(path);
  for (const [part, count] of [400, 101].entries()) {
    const updates = Array.from({ length: count }, (_, at) => `create refs/tags/${part}/${at} ${sha}\n`);
    await runGit(path, ["update-ref", "--stdin"], { input: updates.join("") });
  }
  await recountRepository(repo.id);
  expect((await readRepo(repo.id))?.sizeBytes).toBe(bytes + 504 * 4_096);
  const refs = await listRefs(path);
  expect(await tidy(path)).toBe("packed refs");
  expect((await readdir(join(path, "refs"), { recursive: true })).sort()).toEqual(["heads", "tags"]);
  expect(await listRefs(path)).toEqual(refs);
  await recountRepository(repo.id);
  expect((await readRepo(repo.id))?.sizeBytes).toBe(bytes + (await stat(join(path, "packed-refs"))).size);
  expect(await tidy(path)).toBe("nothing");
});

test("a repository is maintained once after a transfer, by one worker", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  await commitTo(repo, ada, { "a.txt": "b" });
  await db().repoMaintenance.update({ where: { id: repo.id }, data: { dueAt: new Date(0) } });
  const claims = await Promise.all([1, 2, 3].map(() => claimRows<DueMaintenance>(maintenanceTable, 10)));
  const claimed = claims.flatMap(({ claimId, rows }) => rows.map((row) => ({ claimId, row })));
  expect(claimed.map(({ row }) => row.id)).toEqual([repo.id]);
  await db().repo.update({ where: { id: repo.id }, data: { sizeBytes: 0 } });
  for (const { row, claimId } of claimed) await maintainRepository(row, claimId);
  expect(await db().repoMaintenance.count({ where: { id: repo.id } })).toBe(0);
  expect((await readRepo(repo.id))?.sizeBytes).toBeGreaterThan(0);
});

test("S137 while all slots for cards are taken, a push is recorded at once and its card is read later", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const readme = (license: string) => ({ "README.md": `---\nlicense: ${license}\n---\n` });
  await commitTo(repo, ada, readme("mit"));
  const queue = fairQueue({ name: "cards", slots: 4 });
  const take = (key: string) => queue.take({ party: { key, isAnonymous: false } });
  const held = await Promise.all(["a", "b", "c", "d"].map(take));
  const waiting = Array.from({ length: 64 }, () => take("background"));
  const maintain = async (meanwhile = async () => {}) => {
    await db().repoMaintenance.update({ where: { id: repo.id }, data: { dueAt: new Date(0) } });
    const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
    await meanwhile();
    await maintainRepository(rows[0] as DueMaintenance, claimId);
    return db().repoMaintenance.findUnique({ where: { id: repo.id } });
  };
  const busy = await (async () => {
    try {
      const sha = await commitTo(repo, ada, readme("bsd"));
      const pushed = await readRepo(repo.id);
      const due = await db().repoMaintenance.findUniqueOrThrow({ where: { id: repo.id } });
      const events = (await eventsOf(repo)).filter(({ scope }) => scope === "repo.content").length;
      return { sha, pushed, due, events, later: await maintain() };
    } finally {
      for (const release of held) release();
      for (const place of waiting) (await place)();
    }
  })();
  expect(busy.pushed).toMatchObject({ headSha: busy.sha, card: { license: "mit" } });
  expect(busy.events).toBe(2);
  expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
  expect(busy.due.dueAt.getTime()).toBeLessThan(Date.now() + 60_000);
  expect(busy.later).toMatchObject({ claimId: null });
  expect(await maintain(() => db().$transaction((tx) => scheduleMaintenanceSoon(tx, repo.id)))).toMatchObject({ claimId: null });
  expect(await readRepo(repo.id)).toMatchObject({ headSha: busy.sha, card: { license: "bsd" } });
  expect(await maintain()).toBeNull();
});

test("maintenance of a deleted repository does nothing, and failed maintenance is repeated later", async () => {
  const id = newId();
  await db().repoMaintenance.create({ data: { id, dueAt: new Date(0) } });
  const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
  await maintainRepository(rows[0] as DueMaintenance, claimId);
  expect(await db().repoMaintenance.count({ where: { id } })).toBe(0);
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  await writeFile(join(repositoryPath(repo.id), "config"), "[core\n");
  await db().repoMaintenance.update({ where: { id: repo.id }, data: { dueAt: new Date(0) } });
  const broken = await claimRows<DueMaintenance>(maintenanceTable, 1);
  await maintainRepository(broken.rows[0] as DueMaintenance, broken.claimId);
  const row = await db().repoMaintenance.findUniqueOrThrow({ where: { id: repo.id } });
  expect(row.claimId).toBeNull();
  expect(row.dueAt.getTime()).toBeGreaterThan(Date.now() + 30 * 60_000);
});

test("S137 a repository that git cannot repack in time is retried a day later", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  for (const text of ["a", "b", "c"]) await commitTo(repo, ada, { "a.txt": text });
  await utimes(join(repositoryPath(repo.id), "config"), longAgo, longAgo);
  await db().repoMaintenance.update({ where: { id: repo.id }, data: { dueAt: new Date(0) } });
  await db().repo.update({ where: { id: repo.id }, data: { sizeBytes: 0 } });
  const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
  await maintainRepository(rows[0] as DueMaintenance, claimId, { maxMs: 1 });
  const row = await db().repoMaintenance.findUniqueOrThrow({ where: { id: repo.id } });
  expect(row.dueAt.getTime()).toBeGreaterThan(Date.now() + 23 * 60 * 60_000);
  expect((await readRepo(repo.id))?.sizeBytes).toBeGreaterThan(0);
});

test("S137 the whole maintenance of a repository has a time limit", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const path = await openRepository(repo);
  for (const text of ["a", "b", "c"]) await commitTo(repo, ada, { "a.txt": text });
  await utimes(join(path, "config"), longAgo, longAgo);
  // `git gc` waits for this pipe. The next step does not wait for it.
  await mkdir(join(path, "worktrees/w"), { recursive: true });
  execFileSync("mkfifo", [join(path, "worktrees/w/gitdir")]);
  await db().repoMaintenance.update({ where: { id: repo.id }, data: { dueAt: new Date(0) } });
  const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
  await maintainRepository(rows[0] as DueMaintenance, claimId, { maxMs: 2_000 });
  const found = await db().repoMaintenance.findUniqueOrThrow({ where: { id: repo.id } });
  expect(found.dueAt.getTime()).toBeGreaterThan(Date.now() + 23 * 60 * 60_000);
});

test("leftovers of killed processes are removed when they are old", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const path = await openRepository(repo);
  const left = ["HEAD.lock", "packed-refs.lock", "refs/heads/x.lock", "objects/tmp_objdir-incoming-a", "objects/pack/tmp_pack_x"];
  for (const [index, name] of [...left, ...left.map((each) => each.replace(/(lock|.)$/, "2$1"))].entries()) {
    const file = join(path, name);
    if (name.includes("objdir")) await mkdir(file);
    else await writeFile(file, "");
    if (index < left.length) await utimes(file, longAgo, longAgo);
  }
  await tidy(path);
  for (const name of left) expect(await isThere(join(path, name)), name).toBe(false);
  expect(await isThere(join(path, "objects/tmp_objdir-incoming-2a"))).toBe(true);
  expect(await isThere(join(path, "HEAD.2lock"))).toBe(true);
});

test("S137 directories below refs are read only as deep as a ref's name can reach", async () => {
  const path = await openRepository(await someRepo(await signedInPerson()));
  const deep = (folders: number) => join(path, "refs/heads", "a/".repeat(folders), "b.lock");
  for (const folders of [199, 200]) {
    await mkdir(dirname(deep(folders)), { recursive: true });
    await writeFile(deep(folders), "");
    await utimes(deep(folders), longAgo, longAgo);
  }
  expect(await removeStaleFiles(path, { locksOlderThanMs: 0 })).toBe(1);
  expect([await isThere(deep(199)), await isThere(deep(200))]).toEqual([false, true]);
  let entries = 0;
  for await (const _ of entriesOfRefs(path, 100)) entries++;
  expect(entries).toBe(100);
});

test("the files of deleted repositories are removed after a while", async () => {
  const ada = await signedInPerson();
  const [gone, kept] = [await someRepo(ada), await someRepo(ada)];
  for (const repo of [gone, kept]) await commitTo(repo, ada, { "a.txt": "a" });
  await db().repoRemoval.create({ data: { repoId: gone.id } });
  const never = new AbortController().signal;
  expect(await removeDeletedRepositories(never)).toBe(0);
  expect(await isThere(repositoryPath(gone.id))).toBe(true);
  const counts = await Promise.all([removeDeletedRepositories(never, 0), removeDeletedRepositories(never, 0)]);
  expect(counts.reduce((sum, count) => sum + count)).toBe(1);
  expect(await isThere(repositoryPath(gone.id))).toBe(false);
  expect((await readdir(repositoryPath(kept.id))).length).toBeGreaterThan(0);
  expect(await db().repoRemoval.count({ where: { repoId: gone.id } })).toBe(0);
});

test("a deleted repository whose files cannot be removed does not stop the removal of the next one", async () => {
  const gone = await someRepo(await signedInPerson());
  await openRepository(gone);
  const stuck = "stuck--";
  await writeFile(dirname(repositoryPath(stuck)), "");
  const createdAt = (repoId: string) => db().repoRemoval.findUnique({ where: { repoId }, select: { createdAt: true } });
  await db().repoRemoval.create({ data: { repoId: stuck, createdAt: longAgo } });
  await db().repoRemoval.create({ data: { repoId: gone.id, createdAt: new Date(longAgo.getTime() + 1) } });
  const logged = vi.spyOn(log(), "error").mockImplementation(() => undefined);
  expect(await removeDeletedRepositories(new AbortController().signal)).toBe(1);
  expect(logged.mock.calls).toMatchObject([[{ repo: stuck, err: { code: "ENOTDIR" } }, expect.any(String)]]);
  logged.mockRestore();
  expect(await isThere(repositoryPath(gone.id))).toBe(false);
  expect((await createdAt(stuck))?.createdAt.getTime()).toBeGreaterThan(Date.now() - 30_000);
  await rm(dirname(repositoryPath(stuck)));
  await db().repoRemoval.delete({ where: { repoId: stuck } });
});

test("S137 the files of a deleted repository are removed outside of any transaction", async () => {
  const { id } = await someRepo(await signedInPerson());
  for (let at = 0; at < 500; at++) await mkdir(join(repositoryPath(id), `refs/heads/${at}/a/a`), { recursive: true });
  await db().repoRemoval.create({ data: { repoId: id } });
  let isRemoved = false;
  const removing = removeDeletedRepositories(new AbortController().signal, 0).finally(() => {
    isRemoved = true;
  });
  let [looks, open] = [0, 0];
  while (!isRemoved) {
    const { rowCount } = await pool().query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%repo_removal%'",
    );
    looks++;
    open += rowCount ?? 0;
  }
  expect(await removing).toBe(1);
  expect(looks).toBeGreaterThan(3);
  expect(open).toBe(0);
});

test("S137 after long maintenance, other owners' repositories come first", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repos = [await someRepo(ada), await someRepo(ada), await someRepo(bea)];
  await db().repoMaintenance.deleteMany();
  for (const [at, repo] of repos.entries()) {
    await openRepository(repo);
    await db().repoMaintenance.create({ data: { id: repo.id, dueAt: new Date(at) } });
  }
  const claim = async () => {
    const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
    return { claimId, row: rows[0] as DueMaintenance };
  };
  const first = await claim();
  expect(first.row.id).toBe(repos[0]?.id);
  await maintainRepository(first.row, first.claimId, { longMs: 0 });
  const second = await claim();
  expect(second.row.id).toBe(repos[2]?.id);
  await maintainRepository(second.row, second.claimId, { longMs: 0 });
  await expect.poll(async () => (await claim()).row?.id).toBe(repos[1]?.id);
});

test("S137 after long maintenance, repositories that the same user created in an organization wait", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const owned = async () => someRepo(ada, { owner: (await organizationOf(ada)).name });
  const repos = [await owned(), await owned(), await someRepo(bea)];
  await db().repoMaintenance.deleteMany();
  for (const [at, { id }] of repos.entries()) await db().repoMaintenance.create({ data: { id, dueAt: new Date(at) } });
  const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
  await maintainRepository(rows[0] as DueMaintenance, claimId, { longMs: 0 });
  const order = await db().repoMaintenance.findMany({ orderBy: { dueAt: "asc" } });
  expect(order.map(({ id }) => id)).toEqual([repos[2]?.id, repos[1]?.id]);
});

test("S137 many short turns for one user's repositories count as a long turn", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repos = await Promise.all([...Array.from({ length: 20 }, () => ada), bea].map((person) => someRepo(person)));
  await db().repoMaintenance.deleteMany();
  for (const [at, { id }] of repos.entries()) await db().repoMaintenance.create({ data: { id, dueAt: new Date(at) } });
  let [visits, shortestMs] = [0, Number.POSITIVE_INFINITY];
  for (let id = ""; id !== repos.at(-1)?.id; visits++) {
    const { claimId, rows } = await claimRows<DueMaintenance>(maintenanceTable, 1);
    const begun = performance.now();
    await maintainRepository(rows[0] as DueMaintenance, claimId, { longMs: 5 * shortestMs });
    shortestMs = Math.min(shortestMs, performance.now() - begun);
    id = (rows[0] as DueMaintenance).id;
  }
  expect(visits).toBeLessThan(20);
});
