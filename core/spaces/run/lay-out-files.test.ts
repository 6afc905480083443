import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { openRepository } from "../../hub/git/repository.ts";
import { runGit } from "../../hub/git/run-git.ts";
import type { Repo } from "../../hub/repos/repo.ts";
import { someRepo } from "../../hub/testing/repos.ts";
import { CannotLayOut, layOutFiles } from "./lay-out-files.ts";

let ada: TestPerson;
beforeAll(async () => {
  ada = await signedInPerson("ada");
});

async function commitOf(names: readonly Buffer[], mode = "100644"): Promise<{ repo: Repo; commit: string }> {
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const path = await openRepository(repo);
  const blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "/elsewhere" })).toString().trim();
  const lines = names.map((name) => Buffer.concat([Buffer.from(`${mode} blob ${blob}\t`), name, Buffer.from("\0")]));
  const tree = (await runGit(path, ["mktree", "-z"], { input: Buffer.concat(lines) })).toString().trim();
  const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const commit = (await runGit(path, ["commit-tree", tree, "-m", "names"], { env: author })).toString().trim();
  return { repo, commit };
}

async function commitLinks(repo: Repo, links: Record<string, string>): Promise<{ sha: string }> {
  const path = await openRepository(repo);
  const env = { GIT_INDEX_FILE: join(emptyDirectory(), "index"), GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b" };
  for (const [name, target] of Object.entries(links)) {
    const blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: target })).toString().trim();
    await runGit(path, ["update-index", "--add", "--cacheinfo", `120000,${blob},${name}`], { env });
  }
  const tree = (await runGit(path, ["write-tree"], { env })).toString().trim();
  const committer = { ...env, GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  return { sha: (await runGit(path, ["commit-tree", tree, "-m", "links"], { env: committer })).toString().trim() };
}

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("S137 names that this machine cannot write are reported to the user who pushed them", async () => {
  const unwritable = [[Buffer.alloc(300, "a")], [Buffer.from([0x61, 0xfe]), Buffer.from([0x61, 0xff])]];
  for (const names of unwritable) {
    const { repo, commit } = await commitOf(names);
    const laidOut = layOutFiles(repo, commit, emptyDirectory(), { note: () => undefined });
    await expect(laidOut).rejects.toThrow(CannotLayOut);
    await expect(laidOut).rejects.toThrow(/^The file "a.* cannot be written/);
  }
});

test("S137 no link leads out of the Space, not even through other links", async () => {
  const repo = await someRepo(ada, { type: "space", sdk: "node" });
  const links = { "a/b/c/up": "../../..", out: "a/b/c/up/../secret", "a/file": "../a/b/c", "a/b/top": "../../a/file/up" };
  const { sha } = await commitLinks(repo, links);
  const directory = join(emptyDirectory(), "space");
  const notes: string[] = [];
  mkdirSync(directory);
  await layOutFiles(repo, sha, directory, { note: (sentence) => notes.push(sentence) });
  expect(notes).toEqual(["the link out leads out of the Space and was skipped"]);
  expect(realpathSync(join(directory, "a/b/top"))).toBe(realpathSync(directory));
});

test("writing files stops when the files are no longer needed", async () => {
  const { repo, commit } = await commitOf(["one", "two", "three"].map((name) => Buffer.from(name)));
  const link = await commitOf([Buffer.from("out")], "120000");
  for (const [of, abortedAt] of [
    [{ repo, commit }, "before"],
    [link, "meanwhile"],
  ] as const) {
    const stopping = new AbortController();
    if (abortedAt === "before") stopping.abort("paused");
    const directory = emptyDirectory();
    const options = { note: () => stopping.abort("paused"), signal: stopping.signal };
    await expect(layOutFiles(of.repo, of.commit, directory, options)).rejects.toBe("paused");
    expect(readdirSync(directory)).toEqual([]);
  }
});
