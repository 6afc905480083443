import { type ChildProcess, execFileSync } from "node:child_process";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { from, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db, inTransaction, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { claimRows } from "../../postgres/leased-table.ts";
import { asAnotherClient } from "../../testing/as-another-client.ts";
import { walks } from "../git/queues.ts";
import { changeRefs } from "../git/refs/change-refs.ts";
import { updateRefs } from "../git/refs/git-refs.ts";
import { reconcileRefUpdates } from "../git/refs/reconcile.ts";
import { openRepository } from "../git/repository.ts";
import { checkRefs } from "../git/smart-http/refuse-commands.ts";
import type { Repo } from "../repos/repo.ts";
import { updateRepoSettings } from "../repos/update-repo-settings.ts";
import { branchWith, nameOf, setRef } from "../testing/discussions.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../testing/repos.ts";
import { watchProcesses } from "../testing/watch-processes.ts";
import { findDiscussion } from "./find-discussion.ts";
import { followLateChanges, type LateChanges, lateChangesTable } from "./late-changes.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { pullRequestRange } from "./read-pull-request.ts";
import { readTimeline } from "./read-timeline.ts";

/** S137: the author of a pull request determines how long git walks. Here git waits for a pipe. */
let ada: TestPerson;
let repo: Repo;
let base: string;
let head: string;
let tip: string;
let unblock: () => Promise<void>;
let unblockAndLose: () => Promise<void>;
let num: number;
beforeEach(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
  base = await commitTo(repo, ada, { "a.txt": "a" });
  head = await branchWith(repo, ada, "more", { "b.txt": "b" }, { message: "One" });
  num = (await openPullRequest(ada.actor, repo, { title: "More", head: { sha: head } })).row.num;
  const middle = await commitTo(repo, ada, { "b.txt": "c" }, { branch: "more", message: "Two" });
  tip = await commitTo(repo, ada, { "b.txt": "d" }, { branch: "more", message: "Three" });
  unblock = await block(middle);
});

async function block(sha: string): Promise<() => Promise<void>> {
  const path = join(await openRepository(repo), "objects", sha.slice(0, 2), sha.slice(2));
  await rename(path, `${path}.aside`);
  execFileSync("mkfifo", [path]);
  unblockAndLose = async () => {
    const pipe = await open(path, "r+");
    await rm(path);
    await pipe.close();
  };
  return async () => {
    await rm(path);
    await rename(`${path}.aside`, path);
  };
}

const status = async (of = num) => (await findDiscussion(ada.actor, nameOf(repo, of))).discussion.status;
const pushes = async () => (await eventsOf(repo)).filter(({ scope }) => scope === "repo.content").length;
async function subjects(): Promise<string[]> {
  const { discussion } = await findDiscussion(ada.actor, nameOf(repo, num));
  return (await readTimeline(ada.actor, discussion)).items.flatMap((item) => (item.type === "commit" ? [item.subject] : []));
}

const walking = new Set<ChildProcess>();
const watchWalks = () =>
  watchProcesses((child) => {
    child.once("spawn", () => child.spawnfile.endsWith("/limited-git") && walking.add(child));
    child.once("exit", () => walking.delete(child));
  });
const isWalking = () => [...walking].some(({ killed }) => !killed);
const { setTimeout: realTimeout } = globalThis;

/**
 * Runs `work` with a clock that advances only while git walks.
 * @returns how many milliseconds git had
 */
async function timed(work: () => Promise<unknown>, meanwhile?: () => Promise<unknown>): Promise<number> {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const stopWatching = watchWalks();
  try {
    const start = Date.now();
    let isOver = false;
    const done = work().finally(() => {
      isOver = true;
    });
    done.catch(() => undefined);
    let before = meanwhile;
    while (!isOver) {
      if (isWalking()) {
        await before?.();
        before = undefined;
        await vi.advanceTimersByTimeAsync(100);
      }
      await new Promise((resolve) => realTimeout(resolve, 2));
    }
    await done;
    return Date.now() - start;
  } finally {
    stopWatching();
    vi.useRealTimers();
  }
}
const setRefLate = (of: Repo, person: TestPerson, ref: string, sha: string) => timed(() => setRef(of, person, ref, sha));

const name = () => ({ type: repo.type, owner: repo.owner.handle, name: repo.name });
const waiting = () => db().$queryRaw<LateChanges[]>`SELECT * FROM late_ref_change WHERE repo_id = ${repo.id} ORDER BY due_at`;

async function attempt(): Promise<void> {
  for (const { id } of await waiting()) {
    const [row] = await db().$queryRaw<LateChanges[]>`
      UPDATE late_ref_change SET claim_id = 'test', attempts = attempts + 1 WHERE id = ${id} RETURNING *`;
    await followLateChanges(row as LateChanges, "test");
  }
}

describe("a question to git that gets no answer in time", () => {
  test("about new commits delays these commits, but not the push", async () => {
    const before = await pushes();
    const push = () => setRef(repo, ada, `refs/pr/${num}`, tip);
    const change = () => updateRepoSettings(ada.actor, name(), { hasDiscussions: true, gated: "auto" }, from);
    expect(await timed(push, change)).toBe(2_000);
    expect(await pushes()).toBe(before + 1);
    expect(await subjects()).toEqual(["One"]);
    await unblock();
    await setRef(repo, ada, "refs/heads/main", tip);
    expect(await status()).toBe("merged");
    await attempt();
    expect(await subjects()).toEqual(["One", "Two", "Three"]);
    expect(await waiting()).toEqual([]);
    await fsck(repo);
  });

  test("about the commit of a base delays new commits, but not the push", async () => {
    await unblock();
    await setRef(repo, ada, "refs/heads/onto", base);
    num = (await openPullRequest(ada.actor, repo, { title: "Onto", base: "onto", head: { sha: head } })).row.num;
    const before = await pushes();
    const onto = join(await openRepository(repo), "refs/heads/onto");
    await rename(onto, `${onto}.aside`);
    execFileSync("mkfifo", [onto]);
    await setRef(repo, ada, `refs/pr/${num}`, tip);
    expect(await pushes()).toBe(before + 1);
    expect(await subjects()).toEqual(["One"]);
    await attempt();
    expect(await waiting()).toMatchObject([{ attempts: 1, changes: [{ ref: `refs/pr/${num}`, newSha: tip }] }]);
    await rename(`${onto}.aside`, onto);
    await attempt();
    expect(await subjects()).toEqual(["One", "Two", "Three"]);
    expect(await waiting()).toEqual([]);
  });

  test("about a merge delays the mark as merged, but not the push", async () => {
    expect(await setRefLate(repo, ada, "refs/heads/main", tip)).toBe(2_000);
    expect((await eventsOf(repo)).at(-1)?.payload).toMatchObject({ updatedRefs: [{ oldSha: base, newSha: tip }] });
    expect(await status()).toBe("open");
    await unblock();
    const after = (await openPullRequest(ada.actor, repo, { title: "After", head: { sha: head } })).row.num;
    await attempt();
    const { discussion } = await findDiscussion(ada.actor, nameOf(repo, num));
    expect(discussion).toMatchObject({ status: "merged", mergeCommitSha: tip });
    expect(await pullRequestRange(repo, discussion)).toEqual({ headSha: head, baseSha: base });
    expect((await findDiscussion(ada.actor, nameOf(repo, after))).discussion.status).toBe("open");
    expect(await waiting()).toEqual([]);
  });

  test("is retried with longer pauses, and then abandoned", async () => {
    await setRefLate(repo, ada, "refs/heads/main", tip);
    const pauses: number[] = [];
    for (const limitMs of [1_000, 3_000]) {
      expect(await timed(attempt)).toBe(limitMs);
      pauses.push(((await waiting())[0]?.due_at.getTime() ?? 0) - Date.now());
    }
    expect(pauses.map((ms) => Math.round(ms / 60_000))).toEqual([1, 15]);
    await db().$executeRaw`UPDATE late_ref_change SET attempts = 4 WHERE repo_id = ${repo.id}`;
    await unblockAndLose();
    await attempt();
    expect(await waiting()).toEqual([]);
    expect(await status()).toBe("open");
  });

  test("waits until the same user's earlier questions had their turn", async () => {
    const second = await branchWith(repo, ada, "other", { "c.txt": "c" });
    await openPullRequest(ada.actor, repo, { title: "Other", head: { sha: second } });
    await setRefLate(repo, ada, "refs/heads/main", tip);
    await setRefLate(repo, ada, `refs/pr/${num}`, tip);
    const [one, two] = await waiting();
    expect((two?.due_at.getTime() ?? 0) - (one?.due_at.getTime() ?? 0)).toBeGreaterThanOrEqual(30_000);
    expect(one?.changes).toEqual([{ ref: "refs/heads/main", oldSha: base, newSha: tip }]);
    expect(two?.changes).toEqual([{ ref: `refs/pr/${num}`, oldSha: head, newSha: tip, baseSha: tip }]);
    await unblock();
  });

  test("S137 is not delayed by postponed rows", async () => {
    for (const [attempts, hours] of [
      [4, 6],
      [0, 1],
    ])
      await db().$executeRaw`
        INSERT INTO late_ref_change (id, repo_id, actor_id, changes, attempts, due_at)
        VALUES (${newId()}, ${repo.id}, ${ada.id}, '[]', ${attempts}, now() + make_interval(hours => ${hours}::integer))`;
    await setRefLate(repo, ada, `refs/pr/${num}`, tip);
    const [first] = await waiting();
    expect(first?.changes).toMatchObject([{ ref: `refs/pr/${num}` }]);
    expect((first?.due_at.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
    await unblock();
  });

  test("S137 takes turns with the rows of other users", async () => {
    const bea = await signedInPerson("bea");
    await db().$executeRaw`DELETE FROM late_ref_change`;
    for (const [actorId, minutes] of [...Array.from({ length: 10 }, () => [ada.id, 60] as const), [bea.id, 1] as const])
      await db().$executeRaw`
        INSERT INTO late_ref_change (id, repo_id, actor_id, changes, attempts, due_at)
        VALUES (${newId()}, ${repo.id}, ${actorId}, '[]', 2, now() - make_interval(mins => ${minutes}::integer))`;
    const { rows } = await claimRows<LateChanges>(lateChangesTable, 2);
    expect(rows.map((row) => row.actor_id).toSorted()).toEqual([ada.id, bea.id].toSorted());
    await db().$executeRaw`DELETE FROM late_ref_change`;
    await unblock();
  });

  test("does not count as an attempt if the repository is busy", async () => {
    await setRefLate(repo, ada, `refs/pr/${num}`, tip);
    await unblock();
    await withRowLocked(attempt);
    expect(await waiting()).toMatchObject([{ attempts: 0 }]);
    await attempt();
    expect(await waiting()).toEqual([]);
  });

  test("does not prevent the record of a killed process's push", async () => {
    const change = { ref: "refs/heads/main", oldSha: base, newSha: tip };
    const note = { id: newId(), repoId: repo.id, actorId: ada.id, asked: [change], startedAt: new Date() };
    await db().refUpdate.create({ data: { ...note, claimedUntil: new Date(0) } });
    await updateRefs(await openRepository(repo), [change]);
    expect(await timed(reconcileRefUpdates)).toBe(2_000);
    expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
    expect((await eventsOf(repo)).at(-1)?.payload).toMatchObject({ updatedRefs: [change] });
    await unblock();
    await attempt();
    expect(await status()).toBe("merged");
  });

  test("about a push in progress holds a slot for walks", async () => {
    const path = await openRepository(repo);
    const commands = [{ ref: "refs/heads/main", rawRef: "refs/heads/main", oldSha: head, newSha: tip }];
    await updateRefs(path, [{ ref: "refs/heads/main", oldSha: base, newSha: head }]);
    const asked = { commands, isAtomic: false };
    const checking = checkRefs({ ...repo, isDefaultBranchProtected: true }, path, join(path, "objects"), asked);
    await expect.poll(() => walks.counts.taken).toBe(1);
    await unblockAndLose();
    await checking;
    expect(walks.counts.taken).toBe(0);
  });
});

describe("S137 strangers", () => {
  let bea: TestPerson;
  beforeEach(async () => {
    bea = await signedInPerson("bea");
  });
  const opened = async (person: TestPerson, title: string, head?: { sha: string }) =>
    (await openPullRequest(person.actor, repo, { title, ...(head && { head }) })).row.num;

  test("cannot delay others' pull requests by making git slow", async () => {
    await opened(bea, "Slow", { sha: tip });
    const commit = await branchWith(repo, ada, "other", { "c.txt": "c" });
    const honest = await opened(ada, "Other", { sha: commit });
    await setRef(repo, ada, "refs/heads/main", commit);
    expect(await status(honest)).toBe("merged");
    await unblock();
  });

  test("cannot delay others' pull requests by opening very many", async () => {
    await setRef(repo, ada, "refs/heads/onto", base);
    await emptyDrafts("refs/heads/main", 101);
    await emptyDrafts("refs/heads/onto", 401);
    await db().repo.update({ where: { id: repo.id }, data: { lastDiscussionNum: 700 } });
    const commit = await branchWith(repo, ada, "other", { "c.txt": "c" });
    const honest = await opened(ada, "Other", { sha: commit });
    const onto = (await openPullRequest(ada.actor, repo, { title: "Onto", base: "onto", head: { sha: commit } })).row.num;
    await setRef(repo, ada, "refs/heads/main", commit);
    expect(await status(honest)).toBe("merged");
    expect(await waiting()).toEqual([]);
    await setRef(repo, ada, "refs/heads/onto", null);
    expect(await status(onto)).toBe("open");
    await attempt();
    expect(await status(onto)).toBe("closed");
    await attempt();
    expect(await waiting()).toEqual([]);
    await unblock();
  });

  test("cannot keep others' pull requests open by closing their own at the same moment", async () => {
    await setRef(repo, ada, "refs/heads/onto", base);
    await emptyDrafts("refs/heads/onto", 401);
    await db().repo.update({ where: { id: repo.id }, data: { lastDiscussionNum: 700 } });
    const onto = (await openPullRequest(ada.actor, repo, { title: "Onto", base: "onto", head: { sha: head } })).row.num;
    let removing: Promise<unknown> = Promise.resolve();
    await inTransaction(async (tx) => {
      await tx.discussion.updateMany({ where: { repoId: repo.id, num: 401 }, data: { status: "closed" } });
      removing = asAnotherClient(() => setRef(repo, ada, "refs/heads/onto", null));
      removing.catch(() => undefined);
      const waits = () =>
        pool().query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");
      await expect.poll(async () => (await asAnotherClient(waits)).rowCount, { timeout: 10_000 }).toBe(1);
    });
    await removing;
    await attempt();
    expect(await status(onto)).toBe("closed");
    await unblock();
  });

  async function emptyDrafts(baseRef: string, from: number): Promise<void> {
    const one = { repoId: repo.id, title: "Empty", status: "draft", isPullRequest: true, baseRef, authorId: bea.id };
    await db().discussion.createMany({
      data: Array.from({ length: 50 }, (_, index) => ({ ...one, id: newId(), num: from + index })),
    });
  }

  test("cannot get commits marked as merged that were pushed after the change", async () => {
    const own = await opened(bea, "Mine", { sha: head });
    await setRef(repo, bea, `refs/pr/${own}`, base);
    await setRefLate(repo, ada, "refs/heads/main", tip);
    await unblock();
    const change = { ref: `refs/pr/${own}`, oldSha: base, newSha: tip };
    const note = { id: newId(), repoId: repo.id, actorId: bea.id, asked: [change], startedAt: new Date() };
    await db().refUpdate.create({ data: { ...note, claimedUntil: new Date(Date.now() + 60_000) } });
    await updateRefs(await openRepository(repo), [change]);
    await attempt();
    expect([await status(), await status(own)]).toEqual(["merged", "open"]);
    expect(await waiting()).toMatchObject([{ attempts: 1 }]);
    await db().refUpdate.updateMany({ where: { id: note.id }, data: { claimedUntil: new Date(0) } });
    await reconcileRefUpdates();
    await attempt();
    expect(await status(own)).toBe("open");
    expect(await waiting()).toEqual([]);
  });

  test("cannot make the service follow a change forever by pushing all the time", async () => {
    await unblock();
    await emptyDrafts("refs/heads/main", 101);
    await db().repo.update({ where: { id: repo.id }, data: { lastDiscussionNum: 700 } });
    const commit = await branchWith(repo, ada, "other", { "c.txt": "c" });
    const honest = await opened(ada, "Other", { sha: commit });
    const asked = Array.from({ length: 200 }, (_, at) => ({ ref: `refs/pr/${101 + at}`, oldSha: null, newSha: commit }));
    await updateRefs(await openRepository(repo), asked);
    const note = { id: newId(), repoId: repo.id, actorId: bea.id, asked };
    await db().refUpdate.create({ data: { ...note, claimedUntil: new Date(Date.now() + 60_000) } });
    await setRef(repo, ada, "refs/heads/main", commit);
    expect([await status(honest), await status(101)]).toEqual(["merged", "draft"]);
    for (let times = 0; times < 5; times++) {
      expect(await waiting()).toMatchObject([{ attempts: times }]);
      await attempt();
    }
    expect(await waiting()).toEqual([]);
  });

  test("cannot get later pushes marked as merged through a process whose clock is slow", async () => {
    const own = await opened(bea, "Mine", { sha: head });
    await setRef(repo, bea, `refs/pr/${own}`, base);
    await setRefLate(repo, ada, "refs/heads/main", tip);
    await unblock();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    await setRef(repo, bea, `refs/pr/${own}`, tip);
    const after = await opened(bea, "After", { sha: tip });
    vi.useRealTimers();
    await attempt();
    expect([await status(), await status(own), await status(after)]).toEqual(["merged", "open", "open"]);
  });

  test("cannot get a draft marked as merged that was opened during the change", async () => {
    const path = await openRepository(repo);
    const change = { ref: "refs/heads/main", oldSha: base, newSha: head };
    let draft = 0;
    await changeRefs(repo, ada.actor, [change], async () => {
      const changed = await updateRefs(path, [change]);
      draft = await opened(bea, "Empty");
      return changed;
    });
    expect([await status(), await status(draft)]).toEqual(["merged", "draft"]);
    await unblock();
  });
});

describe("a busy repository", () => {
  test("S137 makes a change wait for at most two seconds", async () => {
    await withRowLocked(async () => {
      const changing = updateRepoSettings(ada.actor, name(), { gated: "auto" }, from);
      await expect(changing).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
    });
    await unblock();
  });

  test.each<[string, [string, string], () => string]>([
    ["repository", ["repo", "id"], () => "refs/heads/new"],
    ["pull request", ["discussion", "repo_id"], () => `refs/pr/${num}`],
  ])("S122 delays the record of a change of refs until its %s is unlocked", async (_, row, ref) => {
    await unblock();
    const before = await pushes();
    let pushing: Promise<unknown> = Promise.resolve();
    await withRowLocked(async () => {
      pushing = setRef(repo, ada, ref(), base);
      pushing.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    }, row);
    await pushing;
    expect(await pushes()).toBe(before + 1);
  });
});

async function withRowLocked(work: () => Promise<void>, [table, column]: [string, string] = ["repo", "id"]): Promise<void> {
  const client = await pool().connect();
  try {
    await client.query("BEGIN");
    await client.query(`SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [repo.id]);
    await work();
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}
