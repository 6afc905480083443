import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import { requestContext } from "../../../log.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { downloads } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { compareRevisions, parseRange } from "./compare-revisions.ts";
import type { DiffFile } from "./diff.ts";
import { findLastCommits } from "./last-commits.ts";
import { listCommits, readCommit } from "./list-commits.ts";
import { describeRefs, listRefs } from "./list-refs.ts";
import { readDiff, readPatch } from "./read-diff.ts";
import { PATH_MAX_BYTES } from "./tree-entries.ts";

let ada: TestPerson;
let repo: Repo;

const identity = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };

async function commitFiles(
  parents: string[],
  files: Record<string, { mode?: string; content: string | Buffer }>,
  message = "m",
): Promise<string> {
  const path = await openRepository(repo);
  let lines = "";
  const oids = new Map<string | Buffer, string>();
  for (const [name, { mode = "100644", content }] of Object.entries(files)) {
    let oid = mode === "160000" ? content.toString() : oids.get(content);
    oid ??= (await runGit(path, ["hash-object", "-w", "--stdin"], { input: content })).toString("latin1").trim();
    oids.set(content, oid);
    lines += `${mode} ${mode === "160000" ? "commit" : "blob"} ${oid}	${name}\0`;
  }
  const tree = (await runGit(path, ["mktree", "-z"], { input: lines })).toString("latin1").trim();
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", message];
  return (await runGit(path, args, { env: identity })).toString("latin1").trim();
}

const brief = ({ status, path, oldPath, additions, deletions, isBinary }: DiffFile) =>
  [status, oldPath, path, additions, deletions, isBinary].filter((part) => part !== null).join(" ");

beforeAll(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
});

describe("listCommits", () => {
  test("S137 cuts long messages in a list", async () => {
    const made = await someRepo(ada);
    const message = `Long\n\n${"x".repeat(60_000)}`;
    for (const content of ["a", "b"]) await commitTo(made, ada, { content }, { message });
    const { commits } = await listCommits(made, { revision: "main" });
    expect(commits).toHaveLength(2);
    for (const commit of commits) expect(commit.message.length).toBeLessThan(5_000);
    expect((await readCommit(made, "main")).commit.message).toBe(message);
  });

  test("S137 limits the messages of a list together", async () => {
    const made = await someRepo(ada);
    const first = await commitTo(made, ada, { a: "b" });
    const path = await openRepository(made);
    const message = `Long\n\n${"x".repeat(3_990)}`;
    const commits = Array.from({ length: 100 }, (_, at) => {
      const from = at === 0 ? `from ${first}\n` : "";
      return `commit refs/heads/main\ncommitter A <a@b.c> 1 +0000\ndata ${message.length}\n${message}\n${from}`;
    });
    await runGit(path, ["fast-import", "--quiet"], { input: commits.join("") });
    const listed = await listCommits(made, { revision: "main" });
    expect(listed.commits).toHaveLength(100);
    expect(listed.commits.every(({ title }) => title === "Long")).toBe(true);
    expect(listed.commits.reduce((sum, one) => sum + one.message.length, 0)).toBeLessThan(200_000);
    const tree = (await runGit(path, ["rev-parse", `${first}^{tree}`])).toString().trim();
    const who = "A <a@b.c> 1 +0000";
    const raw = `tree ${tree}\n${`parent ${first}\n`.repeat(20_000)}author ${who}\ncommitter ${who}\n\nm\n`;
    const merge = (await runGit(path, ["hash-object", "-t", "commit", "-w", "--stdin"], { input: raw })).toString().trim();
    expect((await readCommit(made, merge)).commit.parents).toHaveLength(100);
  });

  test("pages through the history of a revision or a path, latest first", async () => {
    const made = await someRepo(ada);
    await expect(listCommits(made, { revision: "main" })).resolves.toMatchObject({ commits: [], total: 0 });
    const shas: string[] = [];
    for (let at = 0; at < 5; at++) {
      shas.unshift(
        await commitTo(made, ada, { [at % 2 ? "odd" : "even"]: String(at) }, { message: `No. ${at}\n\nBody ${at}\n` }),
      );
    }
    const all = await listCommits(made, { revision: "main" });
    expect(all.commits.map(({ sha }) => sha)).toEqual(shas);
    expect(all.commits[0]).toMatchObject({
      title: "No. 4",
      message: "No. 4\n\nBody 4",
      parents: [shas[1]],
      author: { name: "Ada" },
    });
    const second = await listCommits(made, { revision: "main", page: 1, limit: 2 });
    expect(second).toMatchObject({ total: 5, page: 1, pageSize: 2, commits: [{ sha: shas[2] }, { sha: shas[3] }] });
    const odd = await listCommits(made, { revision: "main", path: "odd" });
    expect(odd).toMatchObject({ total: 2, commits: [{ sha: shas[1] }, { sha: shas[3] }] });
    await expect(listCommits(made, { revision: "main", path: ":(glob)*" })).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    for (const path of ["../..", "/etc", "./odd", "odd/", "-x", "\0", "x".repeat(9_000), "\ud800"]) {
      await expect(listCommits(made, { revision: "main", path }), path).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    }
    for (const page of [-1, Number.NaN, 1e30, 0.5]) {
      await expect(listCommits(made, { revision: "main", page, limit: -page })).resolves.toMatchObject({ total: 5 });
    }
    expect((await listCommits(made, { revision: "main", limit: 1e9 })).pageSize).toBe(100);
  });

  test("accepts an empty, a hostile and a malformed message", async () => {
    const path = await openRepository(repo);
    const tree = (await runGit(path, ["mktree"], { input: "" })).toString("latin1").trim();
    const when = "99999999999999999 +0000";
    const raw = Buffer.concat([
      Buffer.from(`tree ${tree}\nauthor <script>\u202e <x> ${when}\ncommitter C <c> 1 +0000\n\ndiff --git\n:100644 \x01`),
      Buffer.from([0xff, 0xfe]),
    ]);
    const args = ["hash-object", "-w", "-t", "commit", "--literally", "--stdin"];
    const odd = (await runGit(path, args, { input: raw })).toString("latin1").trim();
    const empty = await commitFiles([odd], {}, "");
    const { commits } = await listCommits(repo, { revision: empty });
    expect(commits.map(({ sha, title }) => [sha, title])).toEqual([
      [empty, ""],
      [odd, "diff --git"],
    ]);
    expect(commits[1]?.author.at.getTime()).not.toBeNaN();
    expect(() => commits.map(({ author }) => author.at.toISOString())).not.toThrow();
  });
});

describe("readCommit", () => {
  test("lists added, changed, renamed and deleted files with any names", async () => {
    const long = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
    const names = { quote: `a "b"\nc`, dash: "-x", diff: "diff --git a b", arrow: "a => b", emoji: "🌊" };
    const first = await commitFiles([], {
      [names.quote]: { content: long },
      [names.dash]: { content: "1\n2\n3\n" },
      [names.diff]: { content: "gone\n" },
      data: { content: Buffer.from([0, 1, 2]) },
      link: { content: "was a file\n" },
      run: { content: "#!/bin/sh\n" },
    });
    const second = await commitFiles([first], {
      [names.arrow]: { content: `${long}\nmore` },
      [names.dash]: { content: "1\ntwo\n3" },
      [names.emoji]: { content: "@@ -1 +1 @@\n-x\n\\ y\n" },
      data: { content: Buffer.from([0, 1, 3]) },
      link: { mode: "120000", content: names.dash },
      run: { mode: "100755", content: "#!/bin/sh\n" },
      sub: { mode: "160000", content: "1".repeat(40) },
    });
    const { diff, commit } = await readCommit(repo, second);
    expect(commit.parents).toEqual([first]);
    expect(diff.files.map(brief).sort()).toEqual(
      [
        `renamed ${names.quote} ${names.arrow} 2 1 false`,
        `modified ${names.dash} 2 2 false`,
        `deleted ${names.diff} 0 1 false`,
        `added ${names.emoji} 3 0 false`,
        "modified data 0 0 true",
        "type-changed link 1 1 false",
        "modified run 0 0 false",
        "added sub 1 0 false",
      ].sort(),
    );
    const lines = (path: string) => diff.files.find((file) => file.path === path)?.hunks.flatMap((hunk) => hunk.lines);
    expect(lines(names.dash)).toEqual([
      { kind: "context", oldNumber: 1, newNumber: 1, text: "1" },
      { kind: "deleted", oldNumber: 2, newNumber: null, text: "2" },
      { kind: "deleted", oldNumber: 3, newNumber: null, text: "3" },
      { kind: "added", oldNumber: null, newNumber: 2, text: "two" },
      { kind: "added", oldNumber: null, newNumber: 3, text: "3", isUnended: true },
    ]);
    expect(lines(names.emoji)?.map(({ text }) => text)).toEqual(["@@ -1 +1 @@", "-x", "\\ y"]);
    expect(lines("link")?.map(({ kind, text }) => [kind, text])).toEqual([
      ["deleted", "was a file"],
      ["added", names.dash],
    ]);
    expect(diff.files.find(({ path }) => path === "run")).toMatchObject({ oldMode: "100644", newMode: "100755", hunks: [] });
    expect(diff).toMatchObject({ fileCount: 8, isCut: false });
    // Line counts and similarity would let readers without access test guesses of the content.
    const named = await readCommit(repo, second, { withLines: false });
    expect(named.diff.files.map(brief).sort()).toEqual(
      [
        `deleted ${names.quote} 0 0 false`,
        `added ${names.arrow} 0 0 false`,
        `modified ${names.dash} 0 0 false`,
        `deleted ${names.diff} 0 0 false`,
        `added ${names.emoji} 0 0 false`,
        "modified data 0 0 false",
        "type-changed link 0 0 false",
        "modified run 0 0 false",
        "added sub 0 0 false",
      ].sort(),
    );
    expect(named.diff).toMatchObject({ fileCount: 9, additions: 0, deletions: 0, isCut: false });
    expect(named.diff.files.flatMap(({ hunks }) => hunks)).toEqual([]);
    expect((await readCommit(repo, first)).diff.files.every(({ status }) => status === "added")).toBe(true);
  });

  test("S137 cuts a huge difference at limits for lines, characters, files and names", async () => {
    const lines = (count: number, word: string) => ({
      content: `${Array.from({ length: count }, (_, at) => `${word} ${at}`).join("\n")}\n`,
    });
    const one = await commitFiles([], { big: lines(3_000, "x"), small: lines(3, "y"), wide: { content: "z".repeat(100_000) } });
    const { diff } = await readCommit(repo, one);
    const file = (path: string) => diff.files.find((one) => one.path === path);
    expect(file("big")).toMatchObject({ additions: 3_000, isCut: true });
    expect(file("big")?.hunks.flatMap((hunk) => hunk.lines)).toHaveLength(1_000);
    expect(file("small")).toMatchObject({ additions: 3, isCut: false });
    expect(file("wide")?.hunks[0]?.lines[0]?.text).toHaveLength(1_001);
    expect(diff.isCut).toBe(true);

    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`f${at}`, lines(10, "same")]));
    const cut = (await readCommit(repo, await commitFiles([], many))).diff;
    expect(cut).toMatchObject({ fileCount: 1_500, additions: 15_000, isCut: true });
    expect(cut.files).toHaveLength(1_000);
    expect(cut.files.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.lines)).toHaveLength(3_000);
    expect(cut.files.at(-1)).toMatchObject({ isCut: true, hunks: [] });

    const long = await commitFiles([], { a: lines(900, "<".repeat(900)), b: lines(900, "<".repeat(900)) });
    const shown = (await readCommit(repo, long)).diff;
    expect(shown.isCut).toBe(true);
    expect(
      shown.files
        .flatMap(({ hunks }) => hunks)
        .flatMap((hunk) => hunk.lines.map(({ text }) => text))
        .join("").length,
    ).toBeLessThan(270_000);

    const named = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${"<".repeat(2_000)}${at}`, { content: "x" }]));
    const names = (await readCommit(repo, await commitFiles([], named))).diff;
    expect(names).toMatchObject({ fileCount: 300, isCut: true });
    expect(names.files.map(({ path }) => path).join("").length).toBeLessThan(140_000);

    const huge = await commitFiles([], { huge: { content: "a line of text\n".repeat(300_000) } });
    expect((await readCommit(repo, huge)).diff.files[0]).toMatchObject({ isBinary: true, hunks: [] });
  }, 60_000);

  test("shows a merge as its changes to the first parent", async () => {
    const base = await commitFiles([], { a: { content: "1\n" } });
    const left = await commitFiles([base], { a: { content: "1\n" }, left: { content: "l\n" } });
    const right = await commitFiles([base], { a: { content: "1\n" }, right: { content: "r\n" } });
    const merge = await commitFiles([left, right], {
      a: { content: "1\n" },
      left: { content: "l\n" },
      right: { content: "r\n" },
    });
    expect((await readCommit(repo, merge)).diff.files.map(brief)).toEqual(["added right 1 0 false"]);
  });
});

describe("compareRevisions", () => {
  test("shows the changes since the merge base with three dots, and all differences with two", async () => {
    const base = await commitFiles([], { a: { content: "1\n" } });
    const main = await commitFiles([base], { a: { content: "1\n" }, main: { content: "m\n" } }, "on main");
    const topic = await commitFiles([base], { a: { content: "2\n" } }, "on topic");
    const since = await compareRevisions(repo, parseRange(`${main}...${topic}`));
    expect(since.commits.map(({ title }) => title)).toEqual(["on topic"]);
    expect(since.diff.files.map(brief)).toEqual(["modified a 1 1 false"]);
    const all = await compareRevisions(repo, parseRange(`${main}..${topic}`));
    expect(all.diff.files.map(brief)).toEqual(["modified a 1 1 false", "deleted main 0 1 false"]);
    const other = await commitFiles([], { b: { content: "2\n" } }, "unrelated");
    const unrelated = await compareRevisions(repo, parseRange(`${main}...${other}`));
    expect(unrelated.diff.files.map(brief)).toContain("added b 1 0 false");
    const empty = await someRepo(ada);
    await expect(compareRevisions(empty, parseRange("main...main"))).resolves.toMatchObject({ commits: [], diff: { files: [] } });
    for (const range of ["", "main", "..", "...", "main..", "..main"]) {
      expect(() => parseRange(range), range).toThrow(/base\.\.\.head/);
    }
    await expect(compareRevisions(repo, parseRange("-x...--all"))).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    await expect(compareRevisions(repo, parseRange(`${main}....${topic}`))).rejects.toMatchObject({
      wireCode: "RevisionNotFound",
    });
  });

  test("returns a patch that can be applied, and refuses one that is too large", async () => {
    const path = await openRepository(repo);
    const base = await commitFiles([], { a: { content: "1\n" } });
    const topic = await commitFiles([base], { a: { content: "2\n" }, b: { content: "new\n" } });
    const patch = await readPatch(path, base, topic);
    expect(patch).toMatch(/^diff --git a\/a b\/a\n/);
    const stat = execFileSync("git", ["apply", "--numstat"], { input: patch as string, cwd: "/" }).toString();
    expect(stat).toBe("1\t1\ta\n1\t0\tb\n");
    const huge = await commitFiles([base], { a: { content: `${"x".repeat(100)}\n`.repeat(60_000) } });
    expect(await readPatch(path, base, huge)).toBeNull();
    // S137: within a request, a patch holds a slot until the response.
    const closing: (() => void)[] = [];
    const whenClosed = (listener: () => void) => {
      closing.push(listener);
      return () => undefined;
    };
    await requestContext.run({ requestId: "test", whenClosed }, () => readPatch(path, base, topic));
    expect(downloads.counts.taken).toBe(1);
    for (const close of closing) close();
    expect(downloads.counts.taken).toBe(0);
  });
});

describe("listRefs", () => {
  test("lists branches with the default one first", async () => {
    const made = await someRepo(ada);
    expect(await listRefs(made, { withPullRequests: true })).toEqual({ branches: [], tags: [], converts: [], pullRequests: [] });
    const sha = await commitTo(made, ada, { a: "1" });
    const path = await openRepository(made);
    for (const ref of ["refs/heads/a/b", "refs/pr/2", "refs/pr/10", "refs/convert/parquet", "refs/hidden/x", "refs/tags/light"]) {
      await runGit(path, ["update-ref", ref, sha]);
    }
    await runGit(path, ["tag", "-a", "-m", "The first\n\nmore", "v1", sha], { env: identity });
    await runGit(path, ["tag", "of-a-tree", `${sha}^{tree}`]);
    const refs = await listRefs(made, { withPullRequests: true });
    const names = (kind: keyof typeof refs) => refs[kind].map(({ name }) => name);
    expect([names("branches"), names("tags"), names("converts"), names("pullRequests")]).toEqual([
      ["main", "a/b"],
      ["light", "v1"],
      ["parquet"],
      ["10", "2"],
    ]);
    expect(refs.tags[1]).toEqual({ name: "v1", ref: "refs/tags/v1", targetCommit: sha });
    const described = await describeRefs(made, refs.tags);
    expect(described.get("refs/tags/v1")).toEqual({ message: "The first", committedAt: expect.any(Date) });
    expect(described.get("refs/tags/light")).toEqual({ message: null, committedAt: expect.any(Date) });
    expect((await listRefs(made)).pullRequests).toEqual([]);
  });

  test("S137 limits the bytes of names", async () => {
    const made = await someRepo(ada);
    const sha = await commitTo(made, ada, { a: "1" });
    const path = await openRepository(made);
    await runGit(path, ["repack", "-adq"]);
    const branches = Array.from({ length: 5_000 }, (_, at) => `${sha} refs/heads/${at + 10_000}${'"'.repeat(380)}\n`);
    await writeFile(
      join(path, "packed-refs"),
      `# pack-refs with: peeled fully-peeled sorted \n${branches.join("")}${sha} refs/tags/v1\n`,
    );
    const { branches: listed, tags } = await listRefs(made);
    expect(JSON.stringify(listed).length).toBeLessThan(2.5 * 1024 * 1024);
    expect(listed.length).toBeGreaterThan(1_000);
    expect(tags).toHaveLength(1);
  });

  test("lists tags even if there are more branches than the limit", async () => {
    const made = await someRepo(ada);
    const sha = await commitTo(made, ada, { a: "1" });
    const path = await openRepository(made);
    await runGit(path, ["repack", "-adq"]);
    const branches = Array.from({ length: 30_001 }, (_, at) => `${sha} refs/heads/${at + 100_000}\n`);
    const header = "# pack-refs with: peeled fully-peeled sorted \n";
    await writeFile(join(path, "packed-refs"), `${header}${branches.join("")}${sha} refs/tags/v1\n`);
    const request = { requestId: "test", workMs: 0 };
    const refs = await requestContext.run(request, () => listRefs(made));
    expect(refs.branches).toHaveLength(10_000);
    expect(refs.tags.map(({ name }) => name)).toEqual(["v1"]);
    expect(request.workMs).toBeGreaterThan(5);
  });

  test("omits the messages of tags, and tags that are too large", async () => {
    const made = await someRepo(ada);
    const sha = await commitTo(made, ada, { a: "1" });
    const path = await openRepository(made);
    const tagOf = async (message: string) => {
      const input = `object ${sha}\ntype commit\ntag t\ntagger A <a@b.c> 1 +0000\n\n${message}\n`;
      return (await runGit(path, ["mktag"], { input })).toString("latin1").trim();
    };
    const [long, tooLarge] = [await tagOf("x".repeat(900_000)), await tagOf("x".repeat(2 * 1024 * 1024))];
    const refs = Array.from({ length: 60 }, (_, index) => `create refs/tags/long-${index} ${long}\n`);
    await runGit(path, ["update-ref", "--stdin"], { input: `${refs.join("")}create refs/tags/too-large ${tooLarge}\n` });
    const { tags } = await listRefs(made);
    expect(tags.map(({ targetCommit }) => targetCommit)).toEqual(Array(60).fill(sha));
    const [first] = tags;
    if (!first) throw new Error("no tag");
    expect((await describeRefs(made, [first])).get(first.ref)?.message).toBe("x".repeat(200));
    await expect(describeRefs(made, tags)).rejects.toMatchObject({ code: "unavailable" });
  });
});

test("S137 a name of megabytes is cut in differences", async () => {
  const directory = await openRepository(repo);
  const old = { "old.txt": { content: "" } };
  const first = await commitFiles([], old, "first");
  const names = ["x", "y"].map((end) => `${"n".repeat(2 * 1024 * 1024)}${end}`);
  const long = Object.fromEntries([...names, "z.txt"].map((name) => [name, { content: "" }]));
  const second = await commitFiles([first], { ...old, ...long }, "second");
  const found = await findLastCommits(directory, second, { folder: "", paths: ["old.txt", "z.txt"] });
  expect([found.get("old.txt")?.title, found.get("z.txt")?.title]).toEqual(["first", "second"]);
  const { files } = await readDiff(directory, first, second);
  const cut = `${"n".repeat(PATH_MAX_BYTES)}…`;
  expect(files.map(({ path }) => path)).toEqual([cut, cut, "z.txt"]);
});
