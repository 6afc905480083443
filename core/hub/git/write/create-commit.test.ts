import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { anonymous } from "../../../access/actor.ts";
import { organizationOf, outcomes, signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import { throttleCount, throttleKey } from "../../../accounts/throttle.ts";
import { db, pool } from "../../../db.ts";
import { newId } from "../../../ids.ts";
import { deadlock } from "../../../testing/as-owner.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
import { countObjects } from "../count-objects.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import type { Operation } from "./collect-changes.ts";
import { createCommit, type NewCommit } from "./create-commit.ts";

const nameOf = ({ type, fullName }: Repo) => {
  const [owner = "", name = ""] = fullName.split("/");
  return { type, owner, name };
};

const file = (path: string, content = path): Operation => ({ type: "file", path, content: Buffer.from(content) });

function commit(
  person: Pick<TestPerson, "actor">,
  repo: Repo,
  operations: NewCommit["operations"],
  more: Partial<NewCommit> = {},
) {
  return createCommit(person.actor, nameOf(repo), { revision: "main", summary: "Change files", operations, ...more });
}

async function git(repo: Repo, ...args: string[]): Promise<string> {
  return (await runGit(await openRepository(repo), args)).toString("utf8");
}

const filesOf = async (repo: Repo, revision = "main") =>
  (await git(repo, "ls-tree", "-r", "-z", "--name-only", revision)).split("\0").filter(Boolean);

async function leftInQuarantine(repo: Repo): Promise<string[]> {
  return readdir(join(await openRepository(repo), "quarantine"));
}

describe("createCommit", () => {
  test("adds, replaces, deletes and copies in one commit and one event", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const first = await commit(ada, repo, [file("README.md", "# Tides\n"), file("a b/ü.txt"), file("old/x"), file("old/y/z")]);
    const second = await commit(
      ada,
      repo,
      [
        file("README.md", "---\ntags: [sea]\n---\n"),
        { type: "deletedFolder", path: "old/" },
        { type: "deletedFile", path: "a b/ü.txt" },
        { type: "copyFile", path: "copies/README.md", from: { path: "README.md", revision: first.sha } },
        { type: "copyFile", path: "copies/x", from: { path: "old/x" } },
        file("old", "now a file"),
      ],
      { description: "Because.", parentCommit: first.sha },
    );
    await fsck(repo);
    expect(await filesOf(repo)).toEqual(["README.md", "copies/README.md", "copies/x", "old"]);
    expect(await git(repo, "show", "main:copies/README.md")).toBe("# Tides\n");
    expect(await git(repo, "log", "-1", "--format=%B|%an|%ae|%P", "main")).toBe(
      `Change files\n\nBecause.\n|${ada.username}|${ada.id}+${ada.username}@users.noreply.localhost|${first.sha}\n`,
    );
    expect(second.repo).toMatchObject({ headSha: second.sha, tags: ["sea"] });
    const events = await eventsOf(repo);
    expect(events.map(({ scope }) => scope)).toEqual(["repo", "repo.content", "repo.content"]);
    expect(eventPayloadSchema.parse(events[2]?.payload)).toMatchObject({
      repo: { headSha: second.sha, tags: ["sea"] },
      updatedRefs: [{ ref: "refs/heads/main", oldSha: first.sha, newSha: second.sha }],
    });
    expect(await leftInQuarantine(repo)).toEqual([]);
  });

  test("returns the current commit if nothing changes", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const { sha } = await commit(ada, repo, [file("a.txt", "a")]);
    expect(await commit(ada, repo, [file("a.txt", "a")])).toMatchObject({ sha, isNew: false });
    expect(await commit(ada, repo, [])).toMatchObject({ sha, isNew: false });
    expect(await eventsOf(repo)).toHaveLength(2);
  });

  test("an executable file stays executable when its content is replaced", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commit(ada, repo, [file("run.sh", "1"), file("a.txt", "1")]);
    const path = await openRepository(repo);
    const blob = (await git(repo, "rev-parse", "main:run.sh")).trim();
    const tree = (await runGit(path, ["mktree"], { input: `100755 blob ${blob}\trun.sh\n` })).toString().trim();
    const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b" };
    const sha = (await runGit(path, ["commit-tree", "-m", "x", tree], { env })).toString().trim();
    await runGit(path, ["update-ref", "refs/heads/main", sha]);
    await commit(ada, repo, [file("run.sh", "2"), { type: "copyFile", path: "copy.sh", from: { path: "run.sh" } }]);
    expect(await git(repo, "ls-tree", "--format=%(objectmode) %(path)", "main")).toBe("100755 copy.sh\n100755 run.sh\n");
  });

  test("creates and deletes 2,000 files in one commit", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const operations = Array.from({ length: 2_000 }, (_, index) => file(`data/${index % 100}/part-${index}.txt`));
    await commit(ada, repo, operations);
    await fsck(repo);
    expect(await filesOf(repo)).toHaveLength(2_000);
    expect((await eventsOf(repo)).length).toBe(2);
    const deletions = operations.map(({ path }): Operation => ({ type: "deletedFile", path }));
    await commit(ada, repo, [...deletions, file("left.txt")]);
    expect(await filesOf(repo)).toEqual(["left.txt"]);
  });

  test("streams a file, and writes nothing if the stream has another length", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const chunk = Buffer.alloc(64 * 1024, "x");
    const streamed = (path: string, count: number, sizeBytes: number): Operation => ({
      type: "file",
      path,
      content: {
        sizeBytes,
        chunks: (async function* () {
          for (let index = 0; index < count; index++) yield chunk;
        })(),
      },
    });
    await commit(ada, repo, [streamed("large.txt", 100, 100 * chunk.length), file("after.txt", "after")]);
    expect((await git(repo, "cat-file", "-s", "main:large.txt")).trim()).toBe(String(100 * chunk.length));
    expect(await git(repo, "show", "main:after.txt")).toBe("after");
    for (const count of [99, 101]) {
      await expect(commit(ada, repo, [streamed("bad.txt", count, 100 * chunk.length)])).rejects.toThrow(/had \d+/);
    }
    await fsck(repo);
    expect(await filesOf(repo)).toEqual(["after.txt", "large.txt"]);
    expect(await leftInQuarantine(repo)).toEqual([]);
  });
});

test("the next day's commit deletes the quarantine of a killed process", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commit(ada, repo, [file("a.txt")]);
  const all = join(await openRepository(repo), "quarantine");
  for (const name of ["old", "new"]) await mkdir(join(all, name, "objects"), { recursive: true });
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
  await utimes(join(all, "old"), twoDaysAgo, twoDaysAgo);
  await commit(ada, repo, [file("b.txt")]);
  expect(await leftInQuarantine(repo)).toEqual(["new"]);
});

test("S122 a commit whose recording deadlocks is recorded", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const { sha } = await deadlock(
    `select from repo where id = '${repo.id}' for no key update`,
    () => commit(ada, repo, [file("a.txt")]),
    `delete from ref_update where repo_id = '${repo.id}'`,
  );
  expect(await db().repo.findUnique({ where: { id: repo.id } })).toMatchObject({ headSha: sha });
});

test("a repository that is deleted while a commit arrives is not found", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  async function* slowly(): AsyncGenerator<Operation> {
    yield file("a.txt");
    await db().repo.delete({ where: { id: repo.id } });
  }
  await expect(commit(ada, repo, slowly())).rejects.toMatchObject({ wireCode: "RepoNotFound" });
  expect(await db().event.count({ where: { repoId: repo.id, scope: "repo.content" } })).toBe(0);
});

test("a commit changes nothing if the repository becomes read-only or its author loses the right meanwhile", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const organization = await organizationOf(ada, [[bea, "write"]]);
  const repo = await someRepo(ada, { owner: organization.name });
  async function* meanwhile(act: () => Promise<unknown>): AsyncGenerator<Operation> {
    yield file("a.txt");
    await act();
  }
  const setReadOnly = (isReadOnly: boolean) => db().repo.update({ where: { id: repo.id }, data: { isReadOnly } });
  await expect(
    commit(
      bea,
      repo,
      meanwhile(() => setReadOnly(true)),
    ),
  ).rejects.toMatchObject({ code: "forbidden" });
  await setReadOnly(false);
  const leave = () => db().membership.deleteMany({ where: { userId: bea.id } });
  await expect(commit(bea, repo, meanwhile(leave))).rejects.toMatchObject({ code: "forbidden" });
  expect(await resolveRef(await openRepository(repo), "refs/heads/main")).toBeNull();
});

describe("concurrent commits", () => {
  test("with the same required parent yield one commit", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const { sha } = await commit(ada, repo, [file("a.txt")]);
    const asked = Array.from({ length: 20 }, (_, index) => commit(ada, repo, [file(`${index}.txt`)], { parentCommit: sha }));
    const ended = await outcomes(asked);
    expect(ended.filter((one) => one === "ok")).toHaveLength(1);
    expect(ended.filter((one) => one === "precondition_failed")).toHaveLength(19);
    expect((await git(repo, "rev-list", "--count", "main")).trim()).toBe("2");
    expect(await eventsOf(repo)).toHaveLength(3);
    expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
    await fsck(repo);
  });

  test("without a required parent are all created, one on top of another", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const asked = Array.from({ length: 20 }, (_, index) => commit(ada, repo, [file(`${index}.txt`)]));
    expect(new Set(await outcomes(asked))).toEqual(new Set(["ok"]));
    expect(await filesOf(repo)).toHaveLength(20);
    const events = (await eventsOf(repo)).slice(1).map(({ payload }) => eventPayloadSchema.parse(payload));
    const steps = events.flatMap((payload) => ("updatedRefs" in payload ? payload.updatedRefs : []));
    expect(new Set(steps.map(({ oldSha }) => oldSha)).size).toBe(20);
    await fsck(repo);
  });

  test("are repeated when the branch moves meanwhile", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const { sha } = await commit(ada, repo, [file("a.txt")]);
    async function* slowly(): AsyncGenerator<Operation> {
      yield file("mine.txt");
      await commitTo(repo, ada, { "theirs.txt": "theirs" });
      yield file("mine too.txt");
    }
    await commit(ada, repo, slowly());
    expect(await filesOf(repo)).toEqual(["a.txt", "mine too.txt", "mine.txt", "theirs.txt"]);
    async function* again(): AsyncGenerator<Operation> {
      yield file("lost.txt");
      await commitTo(repo, ada, { "theirs.txt": "more" });
    }
    const parentCommit = (await resolveRef(await openRepository(repo), "refs/heads/main")) as string;
    expect(parentCommit).not.toBe(sha);
    await expect(commit(ada, repo, again(), { parentCommit })).rejects.toMatchObject({
      code: "precondition_failed",
      message: expect.stringContaining("The branch was updated"),
    });
    expect(await filesOf(repo)).not.toContain("lost.txt");
  });
});

describe("a commit is refused", () => {
  const bad: [string, Operation[], string][] = [
    ["a way out", [file("../x")], "invalid_request"],
    ["a way out within", [file("a/../../x")], "invalid_request"],
    ["an absolute path", [file("/etc/passwd")], "invalid_request"],
    ["git's folder", [file(".git/config")], "invalid_request"],
    ["git's folder in another case", [file("a/.GiT/hooks/x")], "invalid_request"],
    ["git's folder as NTFS shortens it", [file("GIT~1/config")], "invalid_request"],
    ["git's folder as a stream of NTFS", [file(".git::$INDEX_ALLOCATION/x")], "invalid_request"],
    ["git's folder with what NTFS cuts off", [file(".git. ./x")], "invalid_request"],
    ["git's folder with what HFS+ ignores", [file(".g\u200cit/x")], "invalid_request"],
    ["git's folder behind a backslash", [file("a\\.git\\x")], "invalid_request"],
    ["a path of 201 parts, which could not be read here", [file(`${"d/".repeat(200)}x`)], "invalid_request"],
    ["submodules", [file(".gitmodules")], "invalid_request"],
    ["a NUL", [file("a\0b")], "invalid_request"],
    ["a line break", [file("a\nb")], "invalid_request"],
    ["a lone surrogate", [file("a\ud800")], "invalid_request"],
    ["nothing", [file("")], "invalid_request"],
    ["an empty part", [file("a//b")], "invalid_request"],
    ["a long name", [file("x".repeat(256))], "invalid_request"],
    ["a long path", [file("x/".repeat(1_500))], "invalid_request"],
    ["a file below a file", [file("a.txt/b")], "invalid_request"],
    ["a file below a file of the same commit", [file("n"), file("n/m")], "invalid_request"],
    ["a file where a folder is", [file("folder")], "invalid_request"],
    ["a deletion of what is not there", [{ type: "deletedFile", path: "gone" }], "not_found"],
    ["a second deletion", ["deletedFile", "deletedEntry"].map((type) => ({ type, path: "a.txt" }) as Operation), "not_found"],
    ["a file that is a folder", [{ type: "deletedFile", path: "folder" }], "invalid_request"],
    ["a folder that is a file", [{ type: "deletedFolder", path: "a.txt" }], "invalid_request"],
    ["everything", [{ type: "deletedFolder", path: "/" }], "invalid_request"],
    ["a copy of nothing", [{ type: "copyFile", path: "b", from: { path: "gone" } }], "not_found"],
    ["a copy of a folder", [{ type: "copyFile", path: "b", from: { path: "folder" } }], "invalid_request"],
    ["a copy of no revision", [{ type: "copyFile", path: "b", from: { path: "a.txt", revision: "main^{/x}" } }], "not_found"],
    ["a pointer to what nobody uploaded", [{ type: "lfsFile", path: "m.bin", oid: "a".repeat(64) }], "invalid_request"],
    ["a pointer to no hash", [{ type: "lfsFile", path: "m.bin", oid: "../../etc" }], "invalid_request"],
    ["attributes that git does not read", [file(".gitattributes", `${"a".repeat(3_000)} -text`)], "invalid_request"],
    ["attributes whose second line is long", [file(".gitattributes", `\n${"a".repeat(2_048)}\n`)], "invalid_request"],
    ["a large file", [file("large.txt", "x".repeat(11 * 1024 * 1024))], "payload_too_large"],
  ];

  test("S137 for an invalid path or operation, which the error names", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const { sha } = await commit(ada, repo, [file("a.txt"), file("folder/b.txt")]);
    for (const [what, operations, code] of bad) {
      const asked = commit(ada, repo, [file("before.txt"), ...operations, file("after.txt")]);
      await expect(asked, what).rejects.toMatchObject({ code, message: expect.stringMatching(/"|Revision/) });
    }
    expect(await resolveRef(await openRepository(repo), "refs/heads/main")).toBe(sha);
    expect(await eventsOf(repo)).toHaveLength(2);
    expect(await leftInQuarantine(repo)).toEqual([]);
    expect(await git(repo, "count-objects")).toMatch(/^5 objects/);
    await fsck(repo);
  });

  test("S137 for more folders than the limit", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const deep = Array.from({ length: 300 }, (_, index) => file(`${index}/${"x/".repeat(198)}y`, "x"));
    await expect(commit(ada, repo, deep)).rejects.toMatchObject({ code: "payload_too_large" });
    expect(await leftInQuarantine(repo)).toEqual([]);
  });

  test("S51 for text that a message cannot have", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    for (const more of [
      { summary: "" },
      { summary: " \n " },
      { summary: "a\0b" },
      { summary: "\ud800" },
      { summary: "x".repeat(2_000) },
      { description: "\0" },
      { description: "x".repeat(100_000) },
      { parentCommit: "main" },
      { parentCommit: "--all" },
    ]) {
      await expect(commit(ada, repo, [file("a.txt")], more), JSON.stringify(more)).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
    const { sha } = await commit(ada, repo, [file("a.txt")], {
      summary: "committer x <y> 1\nfrom refs/heads/other",
      description: "data 5",
    });
    expect(await git(repo, "log", "-1", "--format=%B", sha)).toBe("committer x <y> 1 from refs/heads/other\n\ndata 5\n\n");
  });
});

test("a path in decomposed letters (NFD) names the same file as in composed ones", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commit(ada, repo, [file("é.txt".normalize("NFD"), "1")]);
  await commit(ada, repo, [file("é.txt".normalize("NFC"), "2")]);
  expect(await filesOf(repo)).toEqual(["é.txt".normalize("NFC")]);
});

describe("S135 the right to commit", () => {
  test("belongs to members who may write, unless the repository is read-only", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const organization = await organizationOf(ada, [
      [bea, "write"],
      [cy, "read"],
    ]);
    const repo = await someRepo(ada, { owner: organization.name, isPrivate: true });
    await expect(commit(bea, repo, [file("a.txt")])).resolves.toMatchObject({ isNew: true });
    await expect(commit(cy, repo, [file("b.txt")])).rejects.toMatchObject({ code: "forbidden" });
    await expect(commit(await signedInPerson("dan"), repo, [file("b.txt")])).rejects.toMatchObject({ wireCode: "RepoNotFound" });
    await expect(commit({ actor: anonymous } as never, repo, [file("b.txt")])).rejects.toMatchObject({
      wireCode: "RepoNotFound",
    });
    await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: true } });
    await expect(commit(bea, repo, [file("b.txt")])).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("read-only"),
    });
  });

  test("covers branches, and the user's own open pull requests", async () => {
    const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
    const repo = await someRepo(ada);
    const { sha } = await commit(ada, repo, [file("a.txt")]);
    for (const revision of ["gone", sha, "refs/tags/v1", "main^{}", "refs/pr/7x", "../main", "-d", "\0"]) {
      await expect(commit(ada, repo, [file("b")], { revision }), revision).rejects.toMatchObject({
        wireCode: "RevisionNotFound",
      });
    }
    const proposed = await commit(bea, repo, [file("b.txt")], { isPullRequest: true, description: "Please." });
    expect(proposed).toMatchObject({ pullRequest: 1, ref: "refs/pr/1", isNew: true });
    await commit(bea, repo, [file("c.txt")], { revision: "refs/pr/1" });
    expect(await filesOf(repo, "refs/pr/1")).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(await filesOf(repo)).toEqual(["a.txt"]);
    await expect(commit(cy, repo, [file("d.txt")], { revision: "refs/pr/1" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(commit(bea, repo, [file("d.txt")])).rejects.toMatchObject({ code: "forbidden" });
    await expect(commit(bea, repo, [file("a.txt")], { isPullRequest: true })).rejects.toMatchObject({ code: "invalid_request" });
    await fsck(repo);
  });

  test("includes no copies of files that the user may not read", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(ada);
    await commit(ada, repo, [file("secret.txt")]);
    await db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } });
    const copy: Operation = { type: "copyFile", path: "README.md", from: { path: "secret.txt" } };
    const refused = { code: "forbidden", wireCode: "GatedRepo" };
    await expect(commit(bea, repo, [copy], { isPullRequest: true })).rejects.toMatchObject(refused);
    await commit(bea, repo, [file("b.txt")], { isPullRequest: true });
    await expect(commit(bea, repo, [copy], { revision: "refs/pr/1" })).rejects.toMatchObject(refused);
    const access = { repoId: repo.id, userId: bea.id };
    await db().accessRequest.create({ data: { id: newId(), ...access, status: "accepted" } });
    async function* whileAccessEnds(): AsyncGenerator<Operation> {
      yield copy;
      await db().accessRequest.deleteMany({ where: access });
    }
    await expect(commit(bea, repo, whileAccessEnds(), { revision: "refs/pr/1" })).rejects.toMatchObject(refused);
    expect(await filesOf(repo, "refs/pr/1")).toEqual(["b.txt", "secret.txt"]);
    await db().accessRequest.create({ data: { id: newId(), ...access, status: "accepted" } });
    await expect(commit(bea, repo, [copy], { revision: "refs/pr/1" })).resolves.toMatchObject({ isNew: true });
    await expect(commit(ada, repo, [copy])).resolves.toMatchObject({ isNew: true });
  });
});

test("attributes may have many lines of up to 2,047 bytes", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const line = "a".repeat(2_047);
  const content = `${"\n".repeat(10_000)}${line}\n${line}`;
  await commit(ada, repo, [file(".gitattributes", content)]);
  expect(await git(repo, "show", "main:.gitattributes")).toBe(content);
});

test("a commit stores files of Git LFS as pointers, and adds the missing lines to .gitattributes", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const oid = createHash("sha256").update("content").digest("hex");
  await db().lfsObject.create({ data: { repoId: repo.id, oid, sizeBytes: 7, location: "local" } });
  await commit(ada, repo, [file(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text")]);
  await commit(ada, repo, [
    { type: "lfsFile", path: "weights/a.bin", oid, sizeBytes: 7 },
    { type: "lfsFile", path: "a [1] b.txt", oid },
    { type: "lfsFile", path: "m.safetensors", oid },
    { type: "lfsFile", path: "n.safetensors", oid },
  ]);
  expect(await git(repo, "show", "main:weights/a.bin")).toBe(
    `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 7\n`,
  );
  const attributes = await git(repo, "show", "main:.gitattributes");
  expect(attributes.split("\n")).toEqual([
    "*.bin filter=lfs diff=lfs merge=lfs -text",
    '"/a \\\\[1] b.txt" filter=lfs diff=lfs merge=lfs -text',
    "*.safetensors filter=lfs diff=lfs merge=lfs -text",
    "",
  ]);
  await commit(ada, repo, [{ type: "lfsFile", path: "a [1] b.txt", oid }]);
  expect(await git(repo, "show", "main:.gitattributes")).toBe(attributes);
  await expect(commit(ada, repo, [{ type: "lfsFile", path: "b.bin", oid, sizeBytes: 8 }])).rejects.toMatchObject({
    code: "invalid_request",
  });
  await fsck(repo);
});

describe("S137 commits without new content", () => {
  test("exceed the quota by at most 256 MiB a day", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commit(ada, repo, [file("a"), file("b"), file("c")]);
    await db().storageQuota.create({ data: { ownerId: ada.id, bytes: 1n } });
    const remove = (path: string) => commit(ada, repo, [{ type: "deletedFile", path }]);
    await remove("a");
    const key = throttleKey("storage-overdraft", ada.id);
    const bytes = await throttleCount(key);
    expect(bytes).toBeGreaterThan(0);
    await pool().query("UPDATE throttle SET count = $2 WHERE key = $1", [key, 256 * 1024 * 1024]);
    await expect(remove("b")).rejects.toMatchObject({ code: "storage_full" });
    await expect(commit(ada, repo, [{ type: "copyFile", path: "d", from: { path: "b" } }])).rejects.toMatchObject({
      code: "storage_full",
    });
    await db().storageQuota.deleteMany({ where: { ownerId: ada.id } });
    await remove("b");
  });

  test("leave nothing if their pull request is refused", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commit(ada, repo, [file("a")]);
    const propose = (path: string) =>
      commit(ada, repo, [{ type: "copyFile", path, from: { path: "a" } }], { isPullRequest: true });
    await propose("b");
    const { loose, packs } = await countObjects(await openRepository(repo));
    await pool().query("UPDATE throttle SET count = 1000 WHERE key = $1", [throttleKey("discussion-open", ada.id)]);
    await expect(propose("c")).rejects.toMatchObject({ code: "rate_limited" });
    expect(await countObjects(await openRepository(repo))).toMatchObject({ loose, packs });
  });
});

test("S137 a proposal is refused while it arrives, once its contents exceed the author's share", async () => {
  const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
  const repo = await someRepo(ada);
  await commit(ada, repo, [file("a")]);
  await db().storageQuota.create({ data: { ownerId: ada.id, bytes: 8_000_000n } });
  let asked = 0;
  async function* contents(count: number): AsyncGenerator<Operation> {
    for (asked = 0; asked < count; asked++) yield { type: "file", path: `${asked}.bin`, content: randomBytes(60_000) };
  }
  const propose = (count: number) => commit(bea, repo, contents(count), { isPullRequest: true });
  await expect(propose(20)).rejects.toMatchObject({ code: "storage_full" });
  expect(asked).toBe(1);
  expect(await leftInQuarantine(repo)).toEqual([]);
  await propose(1);
  await commit(ada, repo, contents(20));
});
