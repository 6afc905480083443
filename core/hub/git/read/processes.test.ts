import { readdirSync, readlinkSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo, unfoldingRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { startGitLauncher } from "../git-launcher.ts";
import { objectReads, walks } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { compareRevisions, parseRange } from "./compare-revisions.ts";
import { findFile, viewFile } from "./find-file.ts";
import { findLastCommits } from "./last-commits.ts";
import { listCommits, readCommit } from "./list-commits.ts";
import { listRefs } from "./list-refs.ts";
import { findPaths } from "./list-tree.ts";
import { EMPTY_TREE, readDiff } from "./read-diff.ts";
import { readFolder } from "./read-folder.ts";
import { readSnapshot } from "./read-snapshot.ts";
import { ifInTime, runWalk, runWalkGit, walker } from "./walk.ts";

let ada: TestPerson;
let repo: Repo;
const paths = Array.from({ length: 60 }, (_, at) => `a/${at % 7}/${at}.txt`);

beforeAll(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
  for (let at = 0; at < 5; at++) {
    const files = Object.fromEntries(paths.filter((_, index) => index % 5 === at).map((path) => [path, `${path} ${at}`]));
    await commitTo(repo, ada, { ...files, "README.md": `# ${at}` }, { message: `No. ${at}` });
  }
});

async function processesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  await work().finally(watchProcesses(() => count++));
  return count;
}

describe("git is started only a few times for", () => {
  test("a folder with sizes, last commits and README, and the branches to choose from", async () => {
    const folder = () => readFolder(repo, { revision: "main", path: "", mayReadContent: true });
    const page = () => Promise.all([folder(), listRefs(repo)]);
    expect(await processesOf(page)).toBe(4);
    await expect.poll(() => processesOf(page)).toBe(2);
    const { entries, readme, commitCount, lastCommit } = await folder();
    expect(entries.map(({ path, lastCommit }) => [path, lastCommit?.title])).toEqual([
      ["a", "No. 4"],
      ["README.md", "No. 4"],
    ]);
    expect(readme).toMatchObject({ name: "README.md", text: "# 4", isMarkdown: true });
    expect([commitCount, lastCommit?.title]).toEqual([5, "No. 4"]);
  });

  test("a file, a history, a commit, a comparison, a snapshot, many paths", async () => {
    expect(await processesOf(() => viewFile(repo, { revision: "main", path: "a/0/0.txt", withContent: true }))).toBe(2);
    expect(await processesOf(() => listCommits(repo, { revision: "main" }))).toBeLessThanOrEqual(3);
    expect(await processesOf(() => readCommit(repo, "main"))).toBe(3);
    expect(await processesOf(() => compareRevisions(repo, parseRange("HEAD...main")))).toBe(3);
    expect(await processesOf(() => readSnapshot(repo, "main", { files: "sizes" }))).toBe(1);
    expect(await processesOf(() => findPaths(repo, { revision: "main", paths, isExpanded: true }))).toBe(2);
  });

  test("many concurrent readers of one repository", async () => {
    let [alive, most] = [0, 0];
    const stopWatching = watchProcesses((child) => {
      most = Math.max(most, ++alive);
      child.once("exit", () => alive--);
    });
    const read = () => findFile(repo, { revision: "main", path: "README.md", maxBytes: 99 });
    const files = await Promise.all(Array.from({ length: 100 }, read)).finally(stopWatching);
    expect(files.every(({ bytes }) => bytes?.toString() === "# 4")).toBe(true);
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThan(32);
    const failing = Array.from({ length: 70 }, () => findFile(repo, { revision: "none", path: "a" }).catch(() => "refused"));
    expect(new Set(await Promise.all(failing))).toEqual(new Set(["refused"]));
    expect(objectReads.counts).toMatchObject({ taken: 0, waiting: 0 });
    await expect(read()).resolves.toMatchObject({ entry: { name: "README.md" } });
  });
});

test("a folder's last commit may have an earlier date than others, or only delete a file", async () => {
  const made = await someRepo(ada);
  const commit = (title: string, at: number, changes: string) =>
    `commit refs/heads/main\ncommitter A <a@b.c> ${at} +0000\ndata ${title.length}\n${title}\n${changes}\n`;
  const input = [
    commit("one", 3_000, "M 100644 inline a/one.txt\ndata 0\n\nM 100644 inline b.txt\ndata 0\n"),
    commit("two", 2_000, "M 100644 inline a/two.txt\ndata 0\n"),
    commit("three", 1_000, "D a/one.txt"),
    commit("four", 500, "D b.txt"),
  ];
  await runGit(await openRepository(made), ["fast-import", "--quiet"], { input: input.join("") });
  for (const [path, title] of [
    ["", "four"],
    ["a", "three"],
  ] as const) {
    const { lastCommit } = await readFolder(made, { revision: "main", path, mayReadContent: true });
    expect(lastCommit?.title, path).toBe(title);
  }
});

test("a user who may not read content gets a file without its content", async () => {
  const file = await viewFile(repo, { revision: "main", path: "README.md", withContent: false });
  expect(file).toMatchObject({ text: null, entry: { size: 3 } });
  expect(file.bytes).toBeUndefined();
});

test("S137 the search for last commits leaves no stream of git open", async () => {
  const [directory, { sha }] = [await openRepository(repo), await readSnapshot(repo, "main", { files: "none" })];
  const stop = await startGitLauncher();
  const sockets = () => openFiles().filter((name) => name.startsWith("socket:")).length;
  const before = sockets();
  // Each search ends at its file's commit, while git may still write.
  for (const path of paths) await findLastCommits(directory, sha as string, { folder: "", paths: [path] });
  await expect.poll(sockets, { timeout: 20_000 }).toBeLessThanOrEqual(before);
  stop();
});

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

test("S137 the search for last commits takes less than ten times as long for deep folders as for long names", async () => {
  const costOf = async (folder: string) => {
    const made = await someRepo(ada);
    const directory = await openRepository(made);
    const commit = (name: string, from: string, files: string[]) =>
      `commit refs/heads/main\ncommitter ${name} <a@b.c> 1 +0000\ndata 0\n${from}${files.map((file) => `M 100644 inline ${file}\ndata 0\n\n`).join("")}\n`;
    const many = Array.from({ length: 500 }, (_, at) => `${folder}${at}`);
    const input = commit("first", "", ["old.txt"]) + commit("second", "", many);
    await runGit(directory, ["fast-import", "--quiet"], { input });
    const sha = (await runGit(directory, ["rev-parse", "main"])).toString().trim();
    const before = process.cpuUsage();
    const found = await findLastCommits(directory, sha, { folder: "", paths: ["old.txt"] });
    const { user } = process.cpuUsage(before);
    expect(found.get("old.txt")).toMatchObject({ author: { name: "first" } });
    // A longer tick of the kernel may hide a short time.
    return Math.max(user, 4_000);
  };
  expect(await costOf("a/".repeat(2_000))).toBeLessThan(10 * (await costOf("aa".repeat(2_000))));
});

test("S137 only the start of an author's name is kept", async () => {
  const directory = await openRepository(await someRepo(ada));
  const commit = (name: string, file: string) =>
    `commit refs/heads/main\nauthor ${name} <${name}> 1 +0000\ncommitter b <a@b.c> 1 +0000\ndata 0\nM 100644 inline ${file}\ndata 0\n\n`;
  await runGit(directory, ["fast-import", "--quiet"], { input: commit("a☃".repeat(100_000), "a.txt") });
  const sha = (await runGit(directory, ["rev-parse", "main"])).toString().trim();
  const found = await findLastCommits(directory, sha, { folder: "", paths: ["a.txt"] });
  const start = "a☃".repeat(100);
  expect(found.get("a.txt")?.author).toMatchObject({ name: start, email: start });

  let walked = 0;
  const walkOnce = walker<string>({ max: 1_000 });
  const walk = (of: number, size: number) =>
    walkOnce({ directory, of: [`${of}`], walk: async () => ({ value: "x".repeat(size), isWhole: ++walked > 0 }) });
  const [megabyte, many] = [1024 * 1024, Array.from({ length: 20 }, (_, at) => at)];
  for (const of of many) await walk(of, megabyte);
  await walk(19, megabyte);
  expect(walked).toBe(20);
  for (const of of many) await walk(of, megabyte);
  expect(walked).toBe(40);
});

test("S137 while all slots for walks are taken, a folder is shown without last commits", async () => {
  const places = [];
  for (let party = 0; walks.counts.waiting === 0; party++) {
    const place = walks.take({ party: { key: `account ${party}`, isAnonymous: false }, waitMaxMs: 20 });
    places.push(place.catch(() => () => undefined));
  }
  await commitTo(repo, ada, { "later.txt": "" });
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    const folder = readFolder(repo, { revision: "main", path: "", mayReadContent: true });
    const file = viewFile(repo, { revision: "main", path: "README.md", withContent: true });
    await expect.poll(() => walks.counts.waiting, { timeout: 20_000 }).toBe(3);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await folder).toMatchObject({ lastCommit: null, commitCount: null, readme: { name: "README.md" }, isLate: true });
    expect(await file).toMatchObject({ lastCommit: null, text: "# 4", isLate: true });
  } finally {
    vi.useRealTimers();
    for (const release of await Promise.all(places)) release();
  }
  const folder = () => readFolder(repo, { revision: "main", path: "", mayReadContent: true });
  await expect.poll(folder, { timeout: 20_000 }).toMatchObject({ commitCount: 6, isLate: false });
});

describe("S137 a walk that ran out of time", () => {
  const shaOf = async () => (await readSnapshot(repo, "main", { files: "none" })).sha as string;

  test("for last commits is not repeated, and the next caller gets those that were found", async () => {
    const [directory, sha] = [await openRepository(repo), await shaOf()];
    const found = await findLastCommits(directory, sha, { folder: "a", paths: ["a/0/0.txt"], maxMs: 0 });
    expect(found.size).toBe(0);
    const again = () => findLastCommits(directory, sha, { folder: "a", paths: ["a/0/0.txt"] });
    expect(await processesOf(again)).toBe(0);
    expect((await again()).size).toBe(0);
    expect(await processesOf(() => findLastCommits(directory, sha, { folder: "a", paths: ["a/1/1.txt"] }))).toBe(1);
    const now = Date.now();
    vi.setSystemTime(now + 11 * 60_000);
    expect([...(await again()).keys()]).toEqual(["a", "a/0/0.txt"]);
    vi.useRealTimers();
  });

  test("for a difference is not repeated, and the next caller gets what has arrived", async () => {
    const [directory, sha] = [await openRepository(repo), await shaOf()];
    expect(await readDiff(directory, EMPTY_TREE, sha, { maxMs: 0 })).toMatchObject({ isCut: true });
    const again = () => readDiff(directory, EMPTY_TREE, sha);
    expect(await processesOf(again)).toBe(0);
    expect(await again()).toMatchObject({ isCut: true });
  });

  test("makes an optional part missing, and not late", async () => {
    const { directory, args } = await endlessWalk("--name-status");
    await expect(runWalk(directory, args, { timeoutMs: 0 })).rejects.toMatchObject({ code: "unavailable" });
    expect(await ifInTime(runWalk(directory, args))).toEqual({ isLate: false });
  });

  test("of git's output is not repeated, and the refusal gives advice", async () => {
    const { directory, args } = await endlessWalk("--name-only");
    await expect(runWalk(directory, args, { timeoutMs: 0 })).rejects.toMatchObject({ code: "unavailable" });
    expect(await processesOf(() => runWalk(directory, args).catch(() => undefined))).toBe(0);
    await expect(runWalk(directory, args)).rejects.toThrow(/clone the repository/);
  });

  test("is not repeated, even if git ran out of memory instead", async () => {
    const directory = await openRepository(repo);
    const input = Buffer.alloc(40 * 1024 * 1024);
    const large = (await runGit(directory, ["hash-object", "-w", "--stdin"], { input })).toString("latin1").trim();
    const args = ["diff", "--stat", EMPTY_TREE, await treeWith(directory, large)];
    await expect(runWalk(directory, args, { memoryMiB: 32 })).rejects.toMatchObject({ code: "unavailable" });
    expect(await processesOf(() => runWalk(directory, args).catch(() => undefined))).toBe(0);
    await expect(runWalkGit(directory, args)).resolves.toMatchObject({ length: expect.any(Number) });
  });

  const endlessWalk = async (what: string) => {
    const directory = await openRepository(await unfoldingRepo(ada));
    return { directory, args: ["diff", "-r", what, EMPTY_TREE, "main"] };
  };

  const treeWith = async (directory: string, blob: string) =>
    (await runGit(directory, ["mktree"], { input: `100644 blob ${blob}\tlarge\n` })).toString("latin1").trim();
});
