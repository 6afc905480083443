import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { listRefs } from "#core/hub/git/refs/git-refs.ts";
import { reconcileRefUpdates } from "#core/hub/git/refs/reconcile.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { git, mustGit, remote, tokenOf, workingCopy } from "../api/testing/git-client.ts";
import { startProcess } from "./testing/start-process.ts";

/** S122: the web process is killed in the middle of a push, without any cleanup. */
let ada: TestPerson;
let token: string;
beforeAll(async () => {
  ada = await signedInPerson();
  token = await tokenOf(ada);
});

async function branchesOf(repo: Repo): Promise<string[]> {
  return [...(await listRefs(await openRepository(repo), "refs/heads/")).keys()].map((ref) => ref.slice(11));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await isSo()) return;
    await delay(25);
  }
  throw new Error("the expected state was not reached");
}

async function reconcileLater(): Promise<void> {
  await db().refUpdate.updateMany({ data: { claimedUntil: new Date(0) } });
  await Promise.all([reconcileRefUpdates(), reconcileRefUpdates()]);
  await reconcileRefUpdates();
}

const pushes = async (repo: Repo) => (await eventsOf(repo)).filter(({ scope }) => scope === "repo.content");

async function unfinished(repo: Repo): Promise<string[]> {
  const names = await readdir(join(await openRepository(repo), "objects"));
  return names.filter((name) => /^(tmp|incoming)/.test(name));
}

test("S122 if the web process is killed before the refs have changed, the push changed nothing and has no event", async () => {
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "README.md": "# Tide\n" });
  const service = await startProcess();
  const copy = await workingCopy({ "a.txt": "a" });
  // Everything has arrived, and git's hook waits for the row to be written.
  const client = await pool().connect();
  await client.query("BEGIN; LOCK TABLE ref_update IN ACCESS EXCLUSIVE MODE");
  const pushing = git(copy, ["push", remote(service.origin, `/${repo.fullName}`, token), "HEAD:refs/heads/side"]);
  await until(async () => (await unfinished(repo)).length > 0);
  await until(async () => {
    const { rows } = await client.query(`SELECT 1 FROM pg_locks WHERE NOT granted`);
    return rows.length > 0;
  });
  process.kill(service.pid, "SIGKILL");
  expect((await pushing).status).not.toBe(0);
  await until(async () => !(await isGitRunning(repo)));
  await client.query("ROLLBACK");
  client.release();
  await until(async () => (await pool().query(`SELECT 1 FROM pg_locks WHERE NOT granted`)).rows.length === 0);
  await delay(200);
  await reconcileLater();
  expect(await branchesOf(repo)).toEqual(["main"]);
  expect(await pushes(repo)).toHaveLength(1);
  expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
  await fsck(repo);
});

test("S122 if the web process is killed after changing refs but before recording, one event reports the change", async () => {
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "README.md": "# Tide\n" });
  const service = await startProcess();
  const copy = await workingCopy({ "a.txt": "a" });
  const head = await mustGit(copy, ["rev-parse", "HEAD"]);
  const client = await pool().connect();
  await client.query("BEGIN");
  await client.query(`SELECT FROM repo WHERE id = $1 FOR NO KEY UPDATE`, [repo.id]);
  const refspecs = ["HEAD:refs/heads/one", "HEAD:refs/heads/two", "HEAD:refs/tags/v1"];
  const pushing = git(copy, ["push", remote(service.origin, `/${repo.fullName}`, token), ...refspecs]);
  await until(async () => (await branchesOf(repo)).length === 3);
  process.kill(service.pid, "SIGKILL");
  expect((await pushing).status).not.toBe(0);
  await client.query("ROLLBACK");
  client.release();
  expect(await pushes(repo)).toHaveLength(1);
  await reconcileLater();
  const happened = ["refs/heads/one", "refs/heads/two", "refs/tags/v1"].map((ref) => ({ ref, oldSha: null, newSha: head }));
  const events = await pushes(repo);
  expect(events).toHaveLength(2);
  expect(events[1]).toMatchObject({ payload: { updatedRefs: happened } });
  expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
  await fsck(repo);
});

test("S122 if the web process is killed while the pack still arrives, the events agree with the branches", async () => {
  const repo = await someRepo(ada);
  const service = await startProcess();
  const noise = Buffer.from(Array.from({ length: 3_000_000 }, () => Math.floor(Math.random() * 256)));
  const copy = await workingCopy({ "noise.bin": noise });
  const pushing = git(copy, ["push", remote(service.origin, `/${repo.fullName}`, token), "HEAD:refs/heads/main"]);
  await Promise.race([until(async () => (await unfinished(repo)).length > 0), pushing]);
  process.kill(service.pid, "SIGKILL");
  const { status } = await pushing;
  await until(async () => !(await isGitRunning(repo)));
  await reconcileLater();
  expect(await pushes(repo)).toHaveLength((await branchesOf(repo)).length);
  if (status === 0) expect(await branchesOf(repo)).toEqual(["main"]);
  await fsck(repo);
});

async function isGitRunning(repo: Repo): Promise<boolean> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes("receive-pack") && command.includes(repo.id)) return true;
  }
  return false;
}
