import { beforeAll, describe, expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { withObjects } from "./git-objects.ts";
import { resolveRevision } from "./revision.ts";

let repo: Repo;
let path: string;
let first: string;
let second: string;

const git = async (...args: string[]) => {
  const env = { GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
  return (await runGit(path, args, { env })).toString("latin1").trim();
};
const resolve = (name: string) => withObjects(path, (objects) => resolveRevision(objects, repo, name));

beforeAll(async () => {
  const ada = await signedInPerson();
  repo = await someRepo(ada);
  first = await commitTo(repo, ada, { a: "1" });
  second = await commitTo(repo, ada, { a: "2" });
  path = await openRepository(repo);
  await git("update-ref", "refs/heads/feature/one-more", first);
  await git("update-ref", "refs/pr/7", first);
  await git("update-ref", "refs/convert/parquet", first);
  await git("update-ref", "refs/hidden/secret", first);
  await git("tag", "-a", "-m", "one", "v1.0", first);
  await git("tag", "tree-tag", `${first}^{tree}`);
  await git("update-ref", `refs/heads/${second.slice(0, 8)}`, first);
});

describe("resolveRevision", () => {
  test("finds the commit of a branch, a tag, a pull request, a full name and a commit", async () => {
    const expected = {
      main: [second, "refs/heads/main"],
      HEAD: [second, "refs/heads/main"],
      "feature/one-more": [first, "refs/heads/feature/one-more"],
      "refs/heads/feature/one-more": [first, "refs/heads/feature/one-more"],
      "v1.0": [first, "refs/tags/v1.0"],
      "refs/tags/v1.0": [first, "refs/tags/v1.0"],
      "refs/pr/7": [first, "refs/pr/7"],
      "refs/convert/parquet": [first, "refs/convert/parquet"],
      [first]: [first, null],
      [first.slice(0, 10)]: [first, null],
      [second.slice(0, 8)]: [first, `refs/heads/${second.slice(0, 8)}`],
    };
    for (const [name, [sha, ref]] of Object.entries(expected))
      expect(await resolve(name), name).toMatchObject({ name, sha, ref });
  });

  test("S137 does not read a missing name as the output of `git describe`", async () => {
    const described = `v1.0-1-g${second.slice(0, 12)}`;
    for (const name of [described, `refs/heads/${described}`, `refs/pr/${described}`])
      await expect(resolve(name), name).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    await git("update-ref", `refs/tags/${described}`, first);
    expect(await resolve(described)).toMatchObject({ sha: first, ref: `refs/tags/${described}` });
  });

  test("S137 follows only a few nested tags", async () => {
    for (let at = 1; at <= 6; at++) await git("tag", "-a", "-m", "again", `nested-${at}`, at > 1 ? `nested-${at - 1}` : first);
    expect(await resolve("nested-5")).toMatchObject({ sha: first });
    await expect(resolve("nested-6")).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    await git("tag", "-a", "-m", "x".repeat(60_000), "long", first);
    expect(await resolve("long")).toMatchObject({ sha: first });
    const input = `object ${first}\ntype commit\ntag huge\ntagger A <a@b.c> 1 +0000\n\n${"x".repeat(2 * 1024 * 1024)}\n`;
    await git("update-ref", "refs/tags/huge", (await runGit(path, ["mktag"], { input })).toString("latin1").trim());
    await expect(resolve("huge")).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
  });

  test("S137 refuses git's other revision syntax", async () => {
    const tag = await git("rev-parse", "v1.0");
    const tree = await git("rev-parse", `${first}^{tree}`);
    const names = [
      "",
      "none",
      "main^",
      "main~1",
      "main^{tree}",
      "main^{commit}",
      "main@{0}",
      "@{-1}",
      "@",
      "-x",
      "--all",
      "main..v1.0",
    ];
    names.push(
      "main...v1.0",
      ":/1",
      "main:a",
      "^main",
      "refs/hidden/secret",
      "hidden/secret",
      "heads/main",
      "tree-tag",
      tree,
      "a b",
    );
    names.push(
      "main\n",
      "main\0",
      "main\ninfo HEAD",
      "../main",
      "/main",
      "main/",
      "refs/heads/",
      "x".repeat(5_000),
      "\ud800",
      "main.lock",
    );
    names.push("0".repeat(40), first.slice(0, 6), "HEAD^", "FETCH_HEAD", "config", "*", "[a]", "a\\b");
    for (const name of names)
      await expect(resolve(name), JSON.stringify(name)).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    expect(await resolve(tag)).toMatchObject({ sha: first });
  });
});
