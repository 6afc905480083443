import { beforeAll, describe, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { findFile } from "./find-file.ts";
import { findPaths, listTree } from "./list-tree.ts";
import { readSnapshot } from "./read-snapshot.ts";
import { entriesIn } from "./tree-entries.ts";

let ada: TestPerson;
let repo: Repo;

/** Other git commands refuse some names and modes that `mktree` accepts. */
async function commitTree(lines: string, branch: string): Promise<string> {
  const path = await openRepository(repo);
  const tree = (await runGit(path, ["mktree", "-z"], { input: lines })).toString("latin1").trim();
  const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
  const sha = (await runGit(path, ["commit-tree", tree, "-m", "odd"], { env })).toString("latin1").trim();
  await runGit(path, ["update-ref", `refs/heads/${branch}`, sha]);
  return sha;
}

async function blob(content: string | Buffer): Promise<string> {
  return (await runGit(await openRepository(repo), ["hash-object", "-w", "--stdin"], { input: content })).toString().trim();
}

const hash = async (type: string, input: Buffer) =>
  (await runGit(await openRepository(repo), ["hash-object", "-t", type, "-w", "--stdin"], { input })).toString().trim();

async function everything(query: Parameters<typeof listTree>[1]): Promise<string[]> {
  const paths: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listTree(repo, { ...query, ...(cursor !== undefined && { cursor }) });
    paths.push(...page.entries.map(({ path }) => path));
    cursor = page.nextCursor;
  }
  return paths;
}

async function bytesFromGit(work: () => Promise<unknown>): Promise<number> {
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  const stopWatching = watchProcesses((child) => child.once("spawn", () => child.stdout.on("data", count)));
  await work().finally(stopWatching);
  return bytes;
}

beforeAll(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
});

describe("listTree", () => {
  test("returns an empty list for a repository without commits", async () => {
    const empty = await someRepo(ada);
    for (const revision of ["main", "HEAD", "refs/heads/main"]) {
      await expect(listTree(empty, { revision, isRecursive: true, isExpanded: true })).resolves.toMatchObject({
        entries: [],
        nextCursor: null,
        revision: { sha: null },
      });
    }
    await expect(listTree(empty, { revision: "dev" })).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    await expect(listTree(empty, { revision: "main", path: "a" })).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    expect(await findPaths(empty, { revision: "main", paths: ["a"] })).toEqual([]);
  });

  test("lists folders first, and pointers of Git LFS with the size of their files", async () => {
    const oid = "a".repeat(64);
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 123456789\n`;
    await commitTo(repo, ada, {
      "z/a.txt": "1",
      "a.txt": "four",
      "model.bin": pointer,
      "not-lfs": pointer.replace("spec", "sp"),
    });
    const { entries } = await listTree(repo, { revision: "main" });
    expect(entries.map(({ type, path, size, lfs }) => ({ type, path, size, lfs }))).toEqual([
      { type: "directory", path: "z", size: 0, lfs: undefined },
      { type: "file", path: "a.txt", size: 4, lfs: undefined },
      { type: "file", path: "model.bin", size: 123456789, lfs: { oid, size: 123456789, pointerSize: pointer.length } },
      { type: "file", path: "not-lfs", size: pointer.length - 2, lfs: undefined },
    ]);
  });

  test("returns the same recursive list with pages of any size", async () => {
    const files = Object.fromEntries(
      [
        "a/b/c/d",
        "a/b/c.txt",
        "a/b.txt",
        "a-b/x",
        "a.b/x",
        "a0",
        "ab/x",
        "b",
        "ä/ö/ü",
        "z/z/z/z/z",
        "z/z/a",
        "z/a",
        "a/.c/x",
        "z/z/ e/x",
      ].map((path) => [path, path]),
    );
    await commitTo(repo, ada, files, { branch: "walk" });
    const whole = await everything({ revision: "walk", isRecursive: true });
    expect(whole).toHaveLength(new Set(whole).size);
    expect(whole.filter((path) => path in files).sort()).toEqual(Object.keys(files).sort());
    expect(whole).toContain("z/z/z/z");
    for (const limit of [1, 2, 3, 5]) {
      expect(await everything({ revision: "walk", isRecursive: true, limit })).toEqual(whole);
    }
    const below = whole.filter((path) => path.startsWith("a/"));
    expect(await everything({ revision: "walk", path: "a", isRecursive: true, limit: 1 })).toEqual(below);
    const top = await everything({ revision: "walk", limit: 1 });
    expect(top).toEqual(["a-b", "a.b", "a", "ab", "z", "ä", "a0", "b"]);
  });

  test("refuses an invalid cursor", async () => {
    for (const cursor of ["%%%", "=", "a b", "x".repeat(9_000), Buffer.from([0xff]).toString("base64url")]) {
      await expect(listTree(repo, { revision: "main", cursor })).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  test("lists 10,000 files of one folder in pages", async () => {
    const oid = await blob("x");
    const lines = Array.from({ length: 10_000 }, (_, at) => `100644 blob ${oid}\tfile-${at}`);
    await commitTree(`${lines.join("\0")}\0`, "many");
    const paths = await everything({ revision: "many" });
    expect(paths).toHaveLength(10_000);
    expect(new Set(paths).size).toBe(10_000);
    const { entries, nextCursor } = await listTree(repo, { revision: "many", limit: 1_000_000 });
    expect(entries).toHaveLength(1_000);
    expect(nextCursor).not.toBeNull();
  });

  test("S137 makes pages short if paths are long", async () => {
    const oid = await blob("x");
    const name = (at: number) => `${"\x01".repeat(3_900)}${at + 1_000}`;
    await commitTree(Array.from({ length: 500 }, (_, at) => `100644 blob ${oid}\t${name(at)}\0`).join(""), "long");
    const { entries } = await listTree(repo, { revision: "long" });
    expect(JSON.stringify(entries.map(({ path }) => path)).length).toBeLessThan(300_000);
    expect(await everything({ revision: "long" })).toEqual(Array.from({ length: 500 }, (_, at) => name(at)));
    expect((await readSnapshot(repo, "long", { files: "names" })).files).toBeNull();
  });

  test("S137 matches unusual names exactly", async () => {
    const names = [
      "🌊.txt",
      "e\u0301.txt",
      "\u00e9.txt",
      "a name with spaces",
      `quotes "'\``,
      "line\nbreak",
      "tab\there",
      "-rf",
      "--help",
      "back\\slash",
      "*",
      ":(glob)**",
      "%2e%2e",
      "$(id)",
      "a;b",
      ".git-like",
    ];
    const oids = await Promise.all(names.map((name) => blob(name)));
    await commitTree(names.map((name, at) => `100644 blob ${oids[at]}\t${name}\0`).join(""), "odd");
    expect((await everything({ revision: "odd" })).sort()).toEqual([...names].sort());
    for (const name of names) {
      const found = await findFile(repo, { revision: "odd", path: name, maxBytes: 100 });
      expect(found.bytes?.toString("utf8")).toBe(name);
    }
    const { entries } = await listTree(repo, { revision: "odd", isExpanded: true });
    expect(entries.map(({ lastCommit }) => lastCommit?.title)).toEqual(names.map(() => "odd"));
    const elsewhere = [
      "..",
      "../config",
      "/etc/passwd",
      "/a",
      "a/",
      "./-rf",
      "",
      "HEAD",
      ".git/config",
      "C:\\x",
      "x".repeat(5_000),
      "a\0b",
    ];
    for (const path of elsewhere) {
      await expect(findFile(repo, { revision: "odd", path }), path).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    }
    expect(await findPaths(repo, { revision: "odd", paths: [...elsewhere, "-rf"] })).toMatchObject([{ path: "-rf" }]);
  });

  test("shows a name that is not UTF-8, and finds it by the shown name", async () => {
    const lines = Buffer.concat([Buffer.from(`100644 blob ${await blob("latin")}\tcaf`), Buffer.from([0xe9, 0])]);
    const path = await openRepository(repo);
    const tree = (await runGit(path, ["mktree", "-z"], { input: lines })).toString("latin1").trim();
    const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
    const sha = (await runGit(path, ["commit-tree", tree, "-m", "odd"], { env })).toString("latin1").trim();
    const [entry] = (await listTree(repo, { revision: sha })).entries;
    expect(entry?.path).toBe("caf\ufffd");
    expect((await findFile(repo, { revision: sha, path: "caf\ufffd", maxBytes: 9 })).bytes?.toString()).toBe("latin");
  });

  test("shows submodules and symlinks without following them", async () => {
    const target = await blob("../../../../etc/passwd");
    await commitTree(`120000 blob ${target}\tlink\x00160000 commit ${"1".repeat(40)}\tsub\0`, "links");
    const { entries } = await listTree(repo, { revision: "links", isRecursive: true });
    expect(entries.map(({ path, type, size }) => ({ path, type, size }))).toEqual([
      { path: "link", type: "symlink", size: 22 },
      { path: "sub", type: "submodule", size: 0 },
    ]);
    const link = await findFile(repo, { revision: "links", path: "link", maxBytes: 100 });
    expect(link.bytes?.toString()).toBe("../../../../etc/passwd");
    for (const path of ["link/x", "sub/x", "sub"]) {
      await expect(findFile(repo, { revision: "links", path }), path).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    }
  });

  test("S137 omits paths that are nested deeper than 200 folders", async () => {
    const file = (depth: number) => `${"d/".repeat(depth)}file`;
    await commitTo(repo, ada, { [file(199)]: "deep" }, { branch: "deep-enough" });
    const sha = await commitTo(repo, ada, { [file(250)]: "deep" }, { branch: "deep" });
    expect((await findFile(repo, { revision: "deep-enough", path: file(199), maxBytes: 9 })).bytes?.toString()).toBe("deep");
    await expect(findFile(repo, { revision: sha, path: file(250) })).rejects.toMatchObject({ wireCode: "EntryNotFound" });
    const depths = async (revision: string) =>
      (await listTree(repo, { revision, isRecursive: true })).entries.map(({ path }) => path.split("/").length);
    expect(Math.max(...(await depths("deep-enough")))).toBe(200);
    expect(Math.max(...(await depths(sha)))).toBe(200);
  });

  test("returns for each entry the commit that last changed it", async () => {
    const made = await someRepo(ada);
    const first = await commitTo(made, ada, { "a/1": "1", "a/2": "2", "b/3": "3", c: "4" }, { message: "first" });
    const second = await commitTo(made, ada, { "a/1": "one" }, { message: "second\n\nwith more" });
    const third = await commitTo(made, ada, { c: "four" }, { message: "third" });
    const commits = async (query: { path?: string; isRecursive?: boolean }) =>
      Object.fromEntries(
        (await listTree(made, { revision: "main", isExpanded: true, ...query })).entries.map(({ path, lastCommit }) => [
          path,
          lastCommit?.sha,
        ]),
      );
    expect(await commits({})).toEqual({ a: second, b: first, c: third });
    expect(await commits({ path: "a" })).toEqual({ "a/1": second, "a/2": first });
    expect(await commits({ isRecursive: true })).toEqual({
      a: second,
      "a/1": second,
      "a/2": first,
      b: first,
      "b/3": first,
      c: third,
    });
    const [entry] = await findPaths(made, { revision: second, paths: ["a", "none"], isExpanded: true });
    expect(entry?.lastCommit).toMatchObject({ sha: second, title: "second", author: { name: "Ada" } });
  });
});

test("S137 large nested folders are refused before all of them are in memory", async () => {
  const path = await openRepository(repo);
  const file = Buffer.from(await blob("one file, many names"), "hex");
  const names = Array.from({ length: 70_000 }, (_, at) => [Buffer.from(`100644 f${at + 100_000}\0`), file]).flat();
  let tree = "";
  for (let depth = 0; depth < 4; depth++) {
    const within = tree ? [Buffer.from("40000 a\0"), Buffer.from(tree, "hex")] : [];
    const input = Buffer.concat([...within, ...names]);
    tree = (await runGit(path, ["hash-object", "-t", "tree", "-w", "--stdin"], { input })).toString("latin1").trim();
  }
  await commitTree(`040000 tree ${tree}\tnested\0`, "nested");
  const folder = await listTree(repo, { revision: "nested", path: "nested/a/a/a", limit: 5 });
  expect(folder.entries).toHaveLength(5);
  await expect(listTree(repo, { revision: "nested", isRecursive: true })).rejects.toMatchObject({ code: "invalid_request" });
});

test("S138 a large folder is read once for many of its paths", async () => {
  // `bytesFromGit` does not see the output of a git process that was kept for another test's repository.
  repo = await someRepo(ada);
  const file = Buffer.from(await blob("one file, many names"), "hex");
  const names = Array.from({ length: 70_000 }, (_, at) => [Buffer.from(`100644 f${at + 100_000}\0`), file]).flat();
  const folder = Buffer.concat(names);
  await commitTree(`040000 tree ${await hash("tree", folder)}\tlarge\0`, "large");
  const paths = Array.from({ length: 200 }, (_, at) => `large/f${at + 100_000}`);
  let found: unknown[] = [];
  const bytes = await bytesFromGit(async () => {
    found = await findPaths(repo, { revision: "large", paths });
  });
  expect(found).toHaveLength(200);
  expect(bytes / folder.length).toBeGreaterThan(1);
  expect(bytes / folder.length).toBeLessThan(1.5);
});

describe("S137 the bytes of a list of paths are limited", () => {
  async function commitFolder(name: string, count: number, branch: string): Promise<void> {
    const file = Buffer.from(await blob("one file, many names"), "hex");
    const files = Array.from({ length: count }, (_, at) => [Buffer.from(`100644 f${at + 100_000}\0`), file]).flat();
    const folder = Buffer.from(await hash("tree", Buffer.concat(files)), "hex");
    const root = [Buffer.from(`40000 ${name}\0`), folder, Buffer.from("100644 readable\0"), file];
    const commit = [`tree ${await hash("tree", Buffer.concat(root))}`, "author A <a@b.c> 0 +0000", "committer A <a@b.c> 0 +0000"];
    const sha = await hash("commit", Buffer.from(`${commit.join("\n")}\n\nlong\n`));
    await runGit(await openRepository(repo), ["update-ref", `refs/heads/${branch}`, sha]);
  }
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  test("by omitting paths that are too long to be requested", async () => {
    await commitFolder("n".repeat(480_000), 1_000, "long-name");
    for (const isRecursive of [true, false]) {
      const { entries, nextCursor } = await listTree(repo, { revision: "long-name", isRecursive });
      expect(bytesOf(entries)).toBeLessThan(1_000);
      expect(entries.map(({ path }) => path)).toEqual(["readable"]);
      expect(nextCursor).toBeNull();
    }
    expect((await readSnapshot(repo, "long-name", { files: "sizes" })).files).toMatchObject([{ path: "readable" }]);
  });

  test("by listing all other paths in pages", async () => {
    const name = "n".repeat(4_000);
    await commitFolder(name, 2_500, "long-names");
    const all = await everything({ revision: "long-names", isRecursive: true });
    expect(all).toHaveLength(2_502);
    expect(all.at(-2)).toBe(`${name}/f102499`);
    const { sha, files } = await readSnapshot(repo, "long-names", { files: "names" });
    expect(sha).toMatch(/^[0-9a-f]{40}$/);
    expect(files).toBeNull();
  });
});

describe("S137 a path whose folders are all large", () => {
  const large = async (last: string) => {
    const file = Buffer.from(await blob("one file, many names"), "hex");
    const files = Array.from({ length: 110_000 }, (_, at) => [Buffer.from(`100644 f${at + 100_000}\0`), file]).flat();
    return Buffer.concat([...files, Buffer.from("40000 z\0"), Buffer.from(last, "hex")]);
  };
  const deep = 6;
  let content: Buffer;
  beforeAll(async () => {
    let tree = await hash("tree", Buffer.concat([Buffer.from("100644 file\0"), Buffer.from(await blob("deep"), "hex")]));
    for (let depth = 0; depth < deep; depth++) {
      content = await large(tree);
      tree = await hash("tree", content);
    }
    await commitTree(`040000 tree ${tree}\tz\0`, "wide");
    await commitTree(`040000 tree ${tree}\ta\x00040000 tree ${await hash("tree", await large(tree))}\tb\0`, "two");
  });

  const cpuOf = async (work: () => unknown) => {
    const start = process.cpuUsage();
    await work();
    return process.cpuUsage(start).user;
  };

  test("is found without making objects of all names", async () => {
    const find = () => findFile(repo, { revision: "wide", path: `${"z/".repeat(3)}f209999`, maxBytes: 99 });
    const makeAll = () => [1, 2, 3].map(() => [...entriesIn(content)]);
    expect((await find()).bytes?.toString()).toBe("one file, many names");
    makeAll();
    let [found, all] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let times = 0; times < 20 && found >= all / 2; times++) {
      found = Math.min(found, await cpuOf(find));
      all = Math.min(all, await cpuOf(makeAll));
    }
    expect(found).toBeLessThan(all / 2);
  });

  test("is refused once too many of the folders were read", async () => {
    const path = `${"z/".repeat(deep)}z`;
    const refusal = { code: "invalid_request", message: expect.stringMatching(/clone the repository/) };
    const read = () => findFile(repo, { revision: "wide", path }).catch((error) => expect(error).toMatchObject(refusal));
    expect(await bytesFromGit(read)).toBeLessThan(17 * 1024 * 1024);
    const list = listTree(repo, { revision: "wide", isRecursive: true, limit: 5 });
    await expect(list).rejects.toMatchObject({ code: "invalid_request" });
    expect((await readSnapshot(repo, "wide", { files: "names" })).files).toBeNull();
  });

  test("is read once, even if requested paths alternate between two folders", async () => {
    const paths = Array.from({ length: 40 }, (_, at) => `${at % 2 ? "a" : "b"}/f${at + 100_000}`);
    let found: unknown[] = [];
    const bytes = await bytesFromGit(async () => {
      found = await findPaths(repo, { revision: "two", paths });
    });
    expect(found).toHaveLength(40);
    expect(bytes).toBeLessThan(3 * content.length);
  });
});
