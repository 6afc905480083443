import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { organizationOf, outcomes, signedInPerson } from "../../../accounts/testing/people.ts";
import { appToken } from "../../../accounts/testing/tokens.ts";
import { throttleCount, throttleKey } from "../../../accounts/throttle.ts";
import { db, pool } from "../../../db.ts";
import { ServiceError } from "../../../errors.ts";
import { newId } from "../../../ids.ts";
import { roomOf } from "../../../storage/hold-storage.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, eventsOf, fsck, someRepo } from "../../testing/repos.ts";
import { countObjects } from "../count-objects.ts";
import { resolveRef } from "../refs/git-refs.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { createBranch, createTag, deleteBranch, deleteTag, superSquash } from "./branches-and-tags.ts";

const nameOf = ({ type, fullName }: Repo) => {
  const [owner = "", name = ""] = fullName.split("/");
  return { type, owner, name };
};

const at = async (repo: Repo, ref: string) => resolveRef(await openRepository(repo), ref);
const git = async (repo: Repo, ...args: string[]) => (await runGit(await openRepository(repo), args)).toString("utf8");

async function lastChange(repo: Repo) {
  const payload = eventPayloadSchema.parse((await eventsOf(repo)).at(-1)?.payload);
  return "updatedRefs" in payload ? payload.updatedRefs : undefined;
}

describe("branches", () => {
  test("are created at any revision, moved on request and deleted, each with one event", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const first = await commitTo(repo, ada, { "a.txt": "a" });
    const second = await commitTo(repo, ada, { "a.txt": "b" });
    const name = nameOf(repo);
    await createBranch(ada.actor, name, { branch: "feature/ü" });
    expect(await lastChange(repo)).toEqual([{ ref: "refs/heads/feature/ü", oldSha: null, newSha: second }]);
    await createBranch(ada.actor, name, { branch: "early", startingPoint: first });
    await createBranch(ada.actor, name, { branch: "too", startingPoint: "refs/heads/early" });
    expect(await at(repo, "refs/heads/too")).toBe(first);
    await expect(createBranch(ada.actor, name, { branch: "too" })).rejects.toMatchObject({ code: "conflict" });
    await expect(createBranch(ada.actor, name, { branch: "too/far" })).rejects.toMatchObject({ code: "conflict" });
    const before = (await eventsOf(repo)).length;
    await createBranch(ada.actor, name, { branch: "too", isOverwriting: true });
    expect((await eventsOf(repo)).length).toBe(before);
    await createBranch(ada.actor, name, { branch: "too", startingPoint: "main", isOverwriting: true });
    expect(await lastChange(repo)).toEqual([{ ref: "refs/heads/too", oldSha: first, newSha: second }]);
    await createBranch(ada.actor, name, { branch: "empty", isEmpty: true });
    expect(await git(repo, "ls-tree", "empty")).toBe("");
    await deleteBranch(ada.actor, name, "too");
    expect(await lastChange(repo)).toEqual([{ ref: "refs/heads/too", oldSha: second, newSha: null }]);
    await expect(deleteBranch(ada.actor, name, "too")).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    await expect(deleteBranch(ada.actor, name, "main")).rejects.toMatchObject({ code: "conflict" });
    await expect(
      createBranch(ada.actor, name, { branch: "main", startingPoint: first, isOverwriting: true }),
    ).rejects.toMatchObject({ code: "forbidden" });
    await fsck(repo);
  });

  test("begin with a first commit in a repository without commits", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const { sha } = await createBranch(ada.actor, nameOf(repo), { branch: "dev" });
    expect([await at(repo, "refs/heads/dev"), await at(repo, "refs/heads/main")]).toEqual([sha, sha]);
    expect(await lastChange(repo)).toHaveLength(2);
    await fsck(repo);
  });

  test("S137 with an invalid name or revision are refused", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a" });
    const name = nameOf(repo);
    for (const branch of ["", "-D", "a b", "a..b", "HEAD", "refs/heads/x", "x.lock", "a\0b", "\ud800", "a:b", "x".repeat(500)]) {
      await expect(createBranch(ada.actor, name, { branch }), branch).rejects.toMatchObject({ code: "invalid_request" });
      await expect(createTag(ada.actor, name, { tag: branch }), branch).rejects.toMatchObject({ code: "invalid_request" });
      await expect(deleteBranch(ada.actor, name, branch)).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
      await expect(deleteTag(ada.actor, name, branch)).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
    }
    for (const revision of ["gone", "main:a.txt", "main~0", "@{-1}", "--all", ":/Add", "main^{tree}", ""]) {
      const wanted = { wireCode: "RevisionNotFound" };
      await expect(createBranch(ada.actor, name, { branch: "b", startingPoint: revision }), revision).rejects.toMatchObject(
        wanted,
      );
      await expect(createTag(ada.actor, name, { tag: "t", revision }), revision).rejects.toMatchObject(wanted);
    }
    const ended = await outcomes(Array.from({ length: 10 }, () => createBranch(ada.actor, name, { branch: "one" })));
    expect(ended).toEqual([...Array(9).fill("conflict"), "ok"]);
    expect(await eventsOf(repo)).toHaveLength(3);
  });
});

test("S137 the name of a new branch or tag has at most 16 components", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const first = await commitTo(repo, ada, { "a.txt": "a" });
  const second = await commitTo(repo, ada, { "a.txt": "b" });
  const name = nameOf(repo);
  const deep = `${"a/".repeat(16)}a`;
  const refused = { code: "invalid_request", message: expect.stringContaining("at most 15 single slashes") };
  await expect(createBranch(ada.actor, name, { branch: deep })).rejects.toMatchObject(refused);
  await expect(createTag(ada.actor, name, { tag: deep })).rejects.toMatchObject(refused);
  await createBranch(ada.actor, name, { branch: deep.slice(2) });
  for (const kind of ["heads", "tags"]) await git(repo, "update-ref", `refs/${kind}/b/${deep}`, first);
  await createBranch(ada.actor, name, { branch: `b/${deep}`, startingPoint: second, isOverwriting: true });
  expect(await at(repo, `refs/heads/b/${deep}`)).toBe(second);
  await deleteBranch(ada.actor, name, `b/${deep}`);
  await deleteTag(ada.actor, name, `b/${deep}`);
});

test("tags are plain, or annotated with their author", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await expect(createTag(ada.actor, nameOf(repo), { tag: "v0" })).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  await createTag(ada.actor, nameOf(repo), { tag: "v1", revision: "main" });
  expect(await at(repo, "refs/tags/v1")).toBe(sha);
  await createTag(ada.actor, nameOf(repo), { tag: "v2", revision: "v1", message: "The second\n\none" });
  expect(await git(repo, "cat-file", "-t", "v2")).toBe("tag\n");
  expect(await git(repo, "rev-parse", "v2^{commit}")).toBe(`${sha}\n`);
  expect(await git(repo, "for-each-ref", "--format=%(contents)%(taggername)", "refs/tags/v2")).toBe(
    `The second\n\none\n${ada.username}\n`,
  );
  await expect(createTag(ada.actor, nameOf(repo), { tag: "v2" })).rejects.toMatchObject({ code: "conflict" });
  await expect(createTag(ada.actor, nameOf(repo), { tag: "v3", message: "\0" })).rejects.toMatchObject({
    code: "invalid_request",
  });
  await deleteTag(ada.actor, nameOf(repo), "v1");
  expect(await at(repo, "refs/tags/v1")).toBeNull();
  expect(await lastChange(repo)).toEqual([{ ref: "refs/tags/v1", oldSha: sha, newSha: null }]);
  await fsck(repo);
});

test("a name that looks like output of `git describe` is only a name", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  const described = `v1.0-3-g${sha.slice(0, 7)}`;
  expect(await at(repo, `refs/tags/${described}`)).toBeNull();
  await createTag(ada.actor, nameOf(repo), { tag: described });
  await createBranch(ada.actor, nameOf(repo), { branch: described });
  expect(await at(repo, `refs/tags/${described}`)).toBe(sha);
  await deleteTag(ada.actor, nameOf(repo), described);
  await expect(deleteTag(ada.actor, nameOf(repo), described)).rejects.toMatchObject({ code: "not_found" });
});

test("a super-squash leaves the files and one commit", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const before = await commitTo(repo, ada, { "b.txt": "b" });
  const { sha } = await superSquash(ada.actor, nameOf(repo), { branch: "main", message: "All of it" });
  expect(await git(repo, "log", "--format=%s %P", "main")).toBe("All of it \n");
  expect(await git(repo, "diff", "--stat", before, sha)).toBe("");
  expect(await lastChange(repo)).toEqual([{ ref: "refs/heads/main", oldSha: before, newSha: sha }]);
  await expect(superSquash(ada.actor, nameOf(repo), { branch: "gone" })).rejects.toMatchObject({ wireCode: "RevisionNotFound" });
  await fsck(repo);
});

test("a super-squash that exceeds the owner's quota is refused, unless it frees storage", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  await commitTo(repo, ada, { "b.txt": "b" });
  await db().storageQuota.create({ data: { ownerId: ada.id, bytes: 1n } });
  const squash = (message?: string) => superSquash(ada.actor, nameOf(repo), { branch: "main", message });
  await expect(squash("All of it")).rejects.toMatchObject({ code: "storage_full" });
  await squash();
  await expect(squash()).rejects.toMatchObject({ code: "storage_full" });
  await db().storageQuota.deleteMany({ where: { ownerId: ada.id } });
  await squash("All of it");
});

test("messages that are written at the same time share the owner's quota", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  const quota = 1_000_000_000;
  const { ownerId } = await db().storageQuota.create({ data: { ownerId: ada.id, bytes: quota } });
  const used = quota - ((await roomOf(repo.owner)) ?? 0);
  await db().storageQuota.update({ where: { ownerId }, data: { bytes: used + 80_000 } });
  const message = "x".repeat(50_000);
  const meanwhile = async () => {
    await expect(createTag(ada.actor, nameOf(repo), { tag: "v2", message })).rejects.toMatchObject({ code: "storage_full" });
    return ada.actor;
  };
  await createTag(ada.actor, nameOf(repo), { tag: "v1", message }, meanwhile);
  await createTag(ada.actor, nameOf(repo), { tag: "v2", message });
});

test("S114 S135 nothing changes if the token ended or the branch became protected meanwhile", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const first = await commitTo(repo, ada, { "a.txt": "a" });
  const head = await commitTo(repo, ada, { "a.txt": "b" });
  const name = nameOf(repo);
  await createBranch(ada.actor, name, { branch: "b" });
  await createTag(ada.actor, name, { tag: "t" });
  const over = () => Promise.reject(new ServiceError("unauthorized", "The token has ended."));
  const all = [
    () => createBranch(ada.actor, name, { branch: "c" }, over),
    () => deleteBranch(ada.actor, name, "b", over),
    () => createTag(ada.actor, name, { tag: "u" }, over),
    () => deleteTag(ada.actor, name, "t", over),
    () => superSquash(ada.actor, name, { branch: "main" }, over),
  ];
  expect(await outcomes(all.map((each) => each()))).toEqual(Array(5).fill("unauthorized"));
  const token = { kind: "token", tokenId: "t", userId: ada.id, scopes: ["write-repos"], orgIds: "all", clientId: null } as const;
  const set = (defaultBranch: string) => async () => {
    await db().repo.update({ where: { id: repo.id }, data: { defaultBranch } });
    return token;
  };
  const moved = { branch: "b", startingPoint: first, isOverwriting: true };
  await set("main")();
  await expect(superSquash(token, name, { branch: "b" }, set("b"))).rejects.toMatchObject({ code: "insufficient_scope" });
  await set("main")();
  await expect(createBranch(token, name, moved, set("b"))).rejects.toMatchObject({ code: "forbidden" });
  await set("main")();
  await expect(deleteBranch(token, name, "b", set("b"))).rejects.toMatchObject({ code: "conflict" });
  expect(await git(repo, "for-each-ref", "--format=%(refname) %(objectname)")).toBe(
    ["heads/b", "heads/main", "tags/t"].map((ref) => `refs/${ref} ${head}\n`).join(""),
  );
});

test("S135 S137 nothing changes without permission or in a read-only repository", async () => {
  const [ada, bea, cy] = [await signedInPerson(), await signedInPerson("bea"), await signedInPerson("cy")];
  const organization = await organizationOf(ada, [[bea, "read"]]);
  const repo = await someRepo(ada, { owner: organization.name });
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  await createBranch(ada.actor, nameOf(repo), { branch: "b" });
  await createTag(ada.actor, nameOf(repo), { tag: "t" });
  const all = (actor: typeof ada.actor) => [
    createBranch(actor, nameOf(repo), { branch: "c" }),
    deleteBranch(actor, nameOf(repo), "b"),
    createTag(actor, nameOf(repo), { tag: "u" }),
    deleteTag(actor, nameOf(repo), "t"),
    superSquash(actor, nameOf(repo), { branch: "main" }),
  ];
  for (const person of [bea, cy]) expect(await outcomes(all(person.actor))).toEqual(Array(5).fill("forbidden"));
  await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: true } });
  expect(await outcomes(all(ada.actor))).toEqual(Array(5).fill("forbidden"));
  await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: false } });
  const token = {
    kind: "token",
    tokenId: "a token",
    userId: ada.id,
    scopes: ["write-repos"],
    orgIds: "all",
    clientId: null,
  } as const;
  await expect(superSquash(token, nameOf(repo), { branch: "main" })).rejects.toMatchObject({ code: "insufficient_scope" });
  await expect(superSquash(token, nameOf(repo), { branch: "b" })).resolves.toBeDefined();
  expect(await at(repo, "refs/heads/main")).toBe(sha);
  expect(await at(repo, "refs/tags/t")).toBe(sha);
});

test("S137 a repository with the maximum number of refs gets no more branches and tags", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const sha = await commitTo(repo, ada, { "a.txt": "a" });
  const refs = Array.from({ length: 49_999 }, (_, index) => `${sha} refs/tags/${String(index).padStart(6, "0")}\n`);
  await writeFile(join(await openRepository(repo), "packed-refs"), `# pack-refs with: sorted \n${refs.join("")}`);
  const name = nameOf(repo);
  const refusal = { code: "conflict", message: expect.stringContaining("This one has 50,000. Delete some of them first.") };
  await expect(createBranch(ada.actor, name, { branch: "side" })).rejects.toMatchObject(refusal);
  await expect(createTag(ada.actor, name, { tag: "v1" })).rejects.toMatchObject(refusal);
  await deleteTag(ada.actor, name, "000007");
  await expect(createBranch(ada.actor, name, { branch: "side" })).resolves.toMatchObject({ sha });
});

describe("S137 events of changes of refs", () => {
  test("have a daily limit for each account, above which nothing changes", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const name = nameOf(repo);
    await commitTo(repo, ada, { "a.txt": "a" });
    const key = throttleKey("repo-events", ada.id);
    const before = await throttleCount(key);
    await createBranch(ada.actor, name, { branch: "one" });
    const { updatedRefs, repo: about } = ((await eventsOf(repo)).at(-1)?.payload ?? {}) as Record<string, unknown>;
    const recorded = Buffer.byteLength(JSON.stringify({ updatedRefs, repo: about }));
    expect((await throttleCount(key)) - before).toBeGreaterThanOrEqual(recorded);
    await pool().query("UPDATE throttle SET count = $2 WHERE key = $1", [key, 128 * 1024 * 1024]);
    await expect(createBranch(ada.actor, name, { branch: "two" })).rejects.toMatchObject({ code: "rate_limited" });
    expect(await at(repo, "refs/heads/two")).toBeNull();
    expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
  });

  test("are refused above the limit, and the refused changes leave no objects", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a" });
    const { loose } = await countObjects(await openRepository(repo));
    await createBranch(ada.actor, nameOf(repo), { branch: "one" });
    await pool().query("UPDATE throttle SET count = $2 WHERE key = $1", [throttleKey("repo-events", ada.id), 128 * 1024 * 1024]);
    const refused = await outcomes([
      createTag(ada.actor, nameOf(repo), { tag: "v1", message: "one" }),
      createBranch(ada.actor, nameOf(repo), { branch: "two", isEmpty: true }),
      superSquash(ada.actor, nameOf(repo), { branch: "main" }),
    ]);
    expect(refused).toEqual(["rate_limited", "rate_limited", "rate_limited"]);
    expect((await countObjects(await openRepository(repo))).loose).toBe(loose);
  });

  test("of apps and CI jobs do not count against the limit of the user who trusted them", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const name = nameOf(repo);
    await commitTo(repo, ada, { "a.txt": "a" });
    const before = await throttleCount(throttleKey("repo-events", ada.id));
    const job = { kind: "publisher", publisherId: newId(), trustedById: ada.id, repoId: repo.id, description: "" } as const;
    await createBranch(job, name, { branch: "of-a-job" });
    await createBranch(await appToken(ada.id, { scopes: ["write-repos"] }), name, { branch: "of-an-app" });
    expect(await throttleCount(throttleKey("repo-events", ada.id))).toBe(before);
    await pool().query("UPDATE throttle SET count = $1 WHERE key LIKE 'repo-events:%'", [128 * 1024 * 1024]);
    await expect(createBranch(job, name, { branch: "two" })).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("repeat only a few kilobytes of tags", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const tags = Array.from({ length: 100 }, (_, at) => `${at} ${"海".repeat(90)}`);
    await commitTo(repo, ada, { "README.md": `---\ntags: ${JSON.stringify(tags)}\n---\n` });
    await createBranch(ada.actor, nameOf(repo), { branch: "one" });
    const { payload } = (await eventsOf(repo)).at(-1) ?? {};
    expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(6 * 1024);
    expect(payload).toMatchObject({ repo: { tags: tags.slice(0, 15) } });
  });
});
