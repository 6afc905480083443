import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { someRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { type GitLauncher, gitLauncher, startGitLauncher } from "../git-launcher.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { GitObjects, withObjects } from "./git-objects.ts";
import { readSnapshot } from "./read-snapshot.ts";

const MIB = 1024 * 1024;
const FILES = 30_000;
let repo: Repo;
let path: string;
let blob: string;
beforeAll(async () => {
  repo = await someRepo(await signedInPerson());
  path = await openRepository(repo);
  blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "one file, many names" })).toString().trim();
  const input = Array.from({ length: FILES }, (_, at) => `100644 blob ${blob}\tf${at}\n`).join("");
  const tree = (await runGit(path, ["mktree"], { input })).toString().trim();
  const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
  const sha = (await runGit(path, ["commit-tree", tree, "-m", "many"], { env })).toString().trim();
  await runGit(path, ["update-ref", "refs/heads/main", sha]);
});

/** The lower of two results counts, because a run may include garbage collection for other tests. */
const costOf = async (atOnce: number) => Math.min(await costOnce(atOnce), await costOnce(atOnce));

async function costOnce(atOnce: number): Promise<number> {
  const start = process.cpuUsage();
  await withObjects(path, async (objects) => {
    for (let asked = 0; asked < 60_000; asked += atOnce) {
      const found = await Promise.all(Array.from({ length: atOnce }, () => objects.info(blob)));
      expect(found.at(-1)).toEqual({ oid: blob, type: "blob", size: 20 });
    }
  });
  return process.cpuUsage(start).user;
}

test("S137 the cost of one object does not grow with the number of requested objects", async () => {
  const apart = await costOf(1_000);
  expect(await costOf(60_000)).toBeLessThan(4 * apart);
});

test("S137 a folder that is too large is refused without being read", async () => {
  const input = Array.from({ length: 150_000 }, (_, at) => `100644 blob ${blob}\tfile-${at}\n`).join("");
  const tree = (await runGit(path, ["mktree"], { input })).toString().trim();
  const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
  const wide = (await runGit(path, ["commit-tree", tree, "-m", "wide"], { env })).toString().trim();
  let git: number | undefined;
  onTestFinished(watchProcesses((child) => child.once("spawn", () => (git = child.pid))));
  await withObjects(path, async (objects) => {
    const size = (await objects.info(tree))?.size ?? 0;
    expect(size).toBeGreaterThan(5 * MIB);
    await expect(objects.tree(wide)).rejects.toThrow("too many entries");
    const [, kibibytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${git}/status`, "utf8")) ?? [];
    expect(Number(kibibytes) * 1024).toBeLessThan(size / 2);
  });
});

test("S137 the sizes of many files are requested in portions", async () => {
  let most = 0;
  const stopWatching = watchProcesses((child) => {
    child.once("spawn", () =>
      child.stdout.on("data", () => {
        most = Math.max(most, child.stdin.writableLength);
      }),
    );
  });
  const { files } = await readSnapshot(repo, "main", { files: "sizes" }).finally(stopWatching);
  expect(files).toHaveLength(FILES);
  expect(files?.[FILES - 1]).toMatchObject({ path: "f9999", size: 20 });
  expect(most).toBeLessThan(2_000 * 46);
});

test("each answer belongs to its question", async () => {
  const objects = await GitObjects.open(path);
  const tree = await objects.info("main^{tree}");
  const asked = Array.from({ length: 2_000 }, (_, at) => [blob, "main^{tree}", "none"][at % 3] as string);
  const answers = await Promise.all(asked.map((name) => objects.info(name)));
  const expected = new Map([
    [blob, blob],
    ["main^{tree}", tree?.oid],
  ]);
  expect(answers.map((found) => found?.oid)).toEqual(asked.map((name) => expected.get(name)));
  const late = Array.from({ length: 5_000 }, () => objects.info(blob));
  objects.close();
  const statuses = (await Promise.allSettled(late)).map(({ status }) => status);
  expect(statuses).toEqual([...statuses].sort());
  await expect(objects.info(blob)).rejects.toThrow(/closed/);
});

describe("S137 git processes that are kept for later requests", () => {
  let stop: () => void;
  beforeAll(async () => {
    stop = await startGitLauncher();
  });
  afterAll(() => stop());

  const nothing = (objects: GitObjects) => objects.info("none");
  const leaving = async (objects: GitObjects) => void objects.read("main^{tree}", 9e6).catch(() => undefined);
  const processesFor = async (times: number, work: (objects: GitObjects) => Promise<unknown>) => {
    const launch = vi.spyOn(gitLauncher() as GitLauncher, "launch");
    try {
      for (let turn = 0; turn < times; turn++) await withObjects(path, work);
      return launch.mock.calls.length;
    } finally {
      launch.mockRestore();
    }
  };

  test("one git process serves several requests, one after the other", async () => {
    expect(await processesFor(5, nothing)).toBe(1);
  });

  test("a git process that has read much is not kept, because git frees no memory", async () => {
    expect(await processesFor(40, (objects) => objects.tree("main"))).toBeGreaterThanOrEqual(2);
  });

  test("a git process that has answered very many requests is not reused", async () => {
    const many = (objects: GitObjects) => Promise.all(Array.from({ length: 2_000 }, () => objects.info(blob)));
    expect(await processesFor(12, many)).toBeGreaterThanOrEqual(3);
  });

  test("a git process that has grown old between two requests ends", async () => {
    const launch = vi.spyOn(gitLauncher() as GitLauncher, "launch");
    onTestFinished(() => {
      vi.useRealTimers();
      launch.mockRestore();
    });
    await withObjects(path, nothing);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    await withObjects(path, leaving);
    expect(launch).toHaveBeenCalledTimes(2);
    const old = await launch.mock.results[0]?.value;
    await expect.poll(() => old.signalCode, { timeout: 10_000 }).toBe("SIGKILL");
  });

  test("a git process with an unanswered question is not kept", async () => {
    expect(await processesFor(3, leaving)).toBe(3);
    await withObjects(path, async (objects) => expect((await objects.info(blob))?.oid).toBe(blob));
  });
});
