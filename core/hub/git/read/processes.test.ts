import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { beforeAll, describe, expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { compareRevisions, parseRange } from "./compare-revisions.ts";
import { findFile } from "./find-file.ts";
import { findPaths } from "./find-paths.ts";
import { OPEN_MAX } from "./git-objects.ts";
import { listCommits } from "./list-commits.ts";
import { listRefs } from "./list-refs.ts";
import { readCommit } from "./read-commit.ts";
import { readFolder } from "./read-folder.ts";
import { readSnapshot } from "./read-snapshot.ts";
import { viewFile } from "./view-file.ts";

let repo: Repo;
const paths = Array.from({ length: 60 }, (_, at) => `a/${at % 7}/${at}.txt`);

beforeAll(async () => {
  const ada = await signedInPerson();
  repo = await someRepo(ada);
  for (let at = 0; at < 5; at++) {
    const files = Object.fromEntries(paths.filter((_, index) => index % 5 === at).map((path) => [path, `${path} ${at}`]));
    await commitTo(repo, ada, { ...files, "README.md": `# ${at}` }, { message: `No. ${at}` });
  }
});

/** How many processes a piece of work starts. */
async function processesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const started = () => {
    count++;
  };
  subscribe("child_process", started);
  try {
    await work();
  } finally {
    unsubscribe("child_process", started);
  }
  return count;
}

describe("git is started a few times for a page, however much is on it", () => {
  test("a folder with sizes, last commits and README, and the branches to choose from", async () => {
    const folder = () => readFolder(repo, { revision: "main", path: "", withReadme: true });
    const page = () => Promise.all([folder(), listRefs(repo)]);
    expect(await processesOf(page)).toBe(4);
    // What is known of a commit stays known.
    expect(await processesOf(page)).toBe(2);
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

  test("of many who read at once, as many as there are turns", async () => {
    let [alive, most] = [0, 0];
    const started = (message: unknown) => {
      most = Math.max(most, ++alive);
      (message as { process: ChildProcess }).process.once("exit", () => alive--);
    };
    subscribe("child_process", started);
    const read = () => findFile(repo, { revision: "main", path: "README.md", maxBytes: 99 });
    const files = await Promise.all(Array.from({ length: 3 * OPEN_MAX }, read)).finally(() =>
      unsubscribe("child_process", started),
    );
    expect(files.every(({ bytes }) => bytes?.toString() === "# 4")).toBe(true);
    // One that has ended is counted until it is heard of.
    expect(most).toBeGreaterThanOrEqual(OPEN_MAX);
    expect(most).toBeLessThan(2 * OPEN_MAX);
    // Failing gives the turn back.
    const failing = Array.from({ length: 2 * OPEN_MAX }, () =>
      findFile(repo, { revision: "none", path: "a" }).catch(() => "refused"),
    );
    expect(new Set(await Promise.all(failing))).toEqual(new Set(["refused"]));
    await expect(read()).resolves.toMatchObject({ entry: { name: "README.md" } });
  });

  test("who may not read content gets a file without it", async () => {
    const file = await viewFile(repo, { revision: "main", path: "README.md", withContent: false });
    expect(file).toMatchObject({ text: null, entry: { size: 3 } });
    expect(file.bytes).toBeUndefined();
  });
});
