import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { from, organizationOf } from "#core/accounts/testing/people.ts";
import { throttleKey } from "#core/accounts/throttle.ts";
import { db } from "#core/db.ts";
import { recountRepository } from "#core/hub/git/count-objects.ts";
import { resolveRef } from "#core/hub/git/refs/git-refs.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { storeLfsObject } from "#core/hub/lfs/objects/record-lfs-object.ts";
import { lfsPointerTo } from "#core/hub/lfs/parse-lfs-pointer.ts";
import { deleteRepo } from "#core/hub/repos/change-repo.ts";
import { duplicateRepo } from "#core/hub/repos/duplicate-repo.ts";
import { readRepo } from "#core/hub/repos/read-repos.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { queueForLock } from "#core/testing/as-owner.ts";
import { type Caller, sendAs, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

const MIB = 1024 * 1024;

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

async function send(caller: Caller | undefined, method: string, path: string, sent?: unknown) {
  const { status, body } = await sendAs(caller, method, world.origin + path, sent);
  return { status, body };
}

const nameOf = ({ type, owner, name }: Repo) => ({ type, owner: owner.handle, name });
const apiPath = ({ type, fullName }: Pick<Repo, "type" | "fullName">) => `/api/${type}s/${fullName}`;
const duplicate = (caller: Caller | undefined, repo: Repo, repository: string, more = {}) =>
  send(caller, "POST", `${apiPath(repo)}/duplicate`, { repository, ...more });

type File = { oid: string; size: number; content: Buffer };

async function storeFile(repo: Repo, size = 6_000): Promise<File> {
  const content = randomBytes(size);
  const file = { oid: createHash("sha256").update(content).digest("hex"), size, content };
  await storeAgain(repo, file);
  return file;
}

function storeAgain(repo: Repo, { oid, size, content }: File): Promise<void> {
  async function* bytes() {
    yield content;
  }
  return storeLfsObject(repo.id, { oid, size }, bytes());
}

async function commitFile(person: Caller, repo: Repo, path: string, { branch = "main", size = 6_000 } = {}): Promise<File> {
  const file = await storeFile(repo, size);
  await commitTo((await readRepo(repo.id)) as Repo, person, { [path]: lfsPointerTo(file) }, { branch });
  return file;
}

async function found(type: Repo["type"], fullName: string): Promise<Repo> {
  const row = await db().repo.findFirstOrThrow({ where: { type, name: fullName.split("/")[1] ?? "" }, orderBy: { id: "desc" } });
  return (await readRepo(row.id)) as Repo;
}

describe("a copy of a repository", () => {
  test("has the branches, tags, history and large files, but no pull requests, and outlives the source", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada, { defaultBranch: "trunk" });
    await commitTo(repo, ada, { "README.md": "---\ntags: [sea]\n---\n# Tides\n" });
    const file = await commitFile(ada, repo, "tide.bin", { branch: "trunk" });
    await commitTo((await readRepo(repo.id)) as Repo, ada, { "b.txt": "b" }, { branch: "side" });
    const path = await openRepository(repo);
    const head = await resolveRef(path, "refs/heads/trunk");
    await runGit(path, ["update-ref", "refs/tags/v1", head as string]);
    const hidden = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "of a pull request" })).toString().trim();

    const answer = await duplicate(bea, repo, `${bea.username}/my-tides`);
    expect(answer).toEqual({
      status: 200,
      body: { url: `${world.origin}/${bea.username}/my-tides`, filesCopyPending: false },
    });
    const copy = await found("model", `${bea.username}/my-tides`);
    expect(copy).toMatchObject({ isPrivate: false, defaultBranch: "trunk", headSha: head, tags: ["sea"], createdById: bea.id });
    await fsck(copy);
    const copyPath = await openRepository(copy);
    expect(await resolveRef(copyPath, "refs/tags/v1")).toBe(head);
    expect(await resolveRef(copyPath, "refs/heads/side")).not.toBeNull();
    await expect(runGit(copyPath, ["cat-file", "-e", hidden])).rejects.toThrow();
    expect(copy.lfsBytes).toBe(file.size);

    await deleteRepo(ada.actor, nameOf(repo), from);
    const served = await fetch(`${world.origin}/${copy.fullName}/resolve/trunk/tide.bin`);
    expect(Buffer.from(await served.arrayBuffer()).equals(file.content)).toBe(true);
  });

  test("is empty if its source is empty, and a taken name is a conflict", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    expect((await duplicate(ada, repo, `${ada.username}/empty-copy`)).status).toBe(200);
    expect(await duplicate(ada, repo, repo.fullName)).toMatchObject({
      status: 409,
      body: { url: `${world.origin}/${repo.fullName}` },
    });
  });

  test("has a Space's SDK, and the environment that the request names", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const space = await someRepo(ada, { type: "space", sdk: "static" });
    await commitTo(space, ada, { "index.html": "tides" });
    const environment = { secrets: [{ key: "KEY", value: "s" }], variables: [{ key: "COLOR", value: "blue" }] };
    expect((await duplicate(bea, space, `${bea.username}/app`, { ...environment, hardware: "cpu-basic" })).status).toBe(200);
    const copy = await found("space", `${bea.username}/app`);
    expect(copy.sdk).toBe("static");
    const rows = await db().spaceVariable.findMany({ where: { repoId: copy.id }, orderBy: { name: "asc" } });
    expect(rows.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ["COLOR", false],
      ["KEY", true],
    ]);
    const wrong = await duplicate(bea, space, `${bea.username}/app-2`, { variables: [{ key: "1", value: "" }] });
    expect(wrong.status).toBe(400);
    expect((await send(bea, "GET", `/api/spaces/${bea.username}/app-2`)).status).toBe(404);
  });

  test("S147 needs the right to read the source and to create the copy, and never publishes private content", async () => {
    const [ada, bea, reader] = [await someCaller(), await someCaller(), await someCaller("read-repos")];
    const org = await organizationOf(ada, [[bea, "read"]]);
    const secret = await someRepo(ada, { owner: org.name, isPrivate: true });
    await commitTo(secret, ada, { "a.txt": "a" });
    expect((await duplicate(undefined, secret, "x/y")).status).toBe(401);
    expect((await duplicate(reader, secret, `${reader.username}/stolen`)).status).toBe(404);
    const open = await someRepo(ada);
    expect((await duplicate(reader, open, `${reader.username}/mine`)).status).toBe(403);
    expect((await duplicate(bea, open, `${ada.username}/theirs`)).status).toBe(403);

    expect((await duplicate(bea, secret, `${bea.username}/public`, { visibility: "public" })).status).toBe(403);
    expect((await duplicate(bea, secret, `${bea.username}/copy`)).status).toBe(200);
    expect(await found("model", `${bea.username}/copy`)).toMatchObject({ isPrivate: true });
    expect((await duplicate(ada, secret, `${ada.username}/published`, { visibility: "public" })).status).toBe(200);

    const gated = await someRepo(ada);
    await commitTo(gated, ada, { "a.txt": "a" });
    await updateRepoSettings(ada.actor, nameOf(gated), { gated: "manual" }, from);
    expect((await duplicate(bea, gated, `${bea.username}/past-the-gate`)).status).toBe(403);
    expect((await duplicate(ada, gated, `${ada.username}/gated-copy`)).status).toBe(200);
    expect(await found("model", `${ada.username}/gated-copy`)).toMatchObject({ isPrivate: true });
  });

  test("counts towards the quota of its owner, and leaves nothing if it does not fit", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    await commitFile(ada, repo, "tide.bin", { size: 200_000 });
    await db().storageQuota.create({ data: { ownerId: bea.id, bytes: 100_000 } });
    expect((await duplicate(bea, repo, `${bea.username}/too-large`)).status).toBe(507);
    expect(await db().repo.count({ where: { ownerId: bea.id } })).toBe(0);
    expect(await db().storageHold.count({ where: { ownerId: bea.id } })).toBe(0);
  });

  test("S147 is refused if it needs more storage than its source, which may store files as deltas", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const git = async (args: string[], input?: string | Buffer) => {
      const env = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "" };
      const config = ["core.compression=0", "core.looseCompression=0"];
      return (await runGit(path, args, { config, env, ...(input !== undefined && { input }) })).toString().trim();
    };
    const base = randomBytes(2 * MIB);
    const blobs: string[] = [];
    for (let at = 0; at < 11; at++) blobs.push(await git(["hash-object", "-w", "--stdin"], base.subarray(at)));
    await git(["pack-objects", "-q", "--window=20", "--depth=1", "objects/pack/pack"], blobs.join("\n"));
    await git(["prune-packed"]);
    const entries = blobs.slice(1).map((blob, at) => `100644 blob ${blob}\t${at}\n`);
    const head = await git(["commit-tree", await git(["mktree"], entries.join("")), "-m", "differences"]);
    await git(["update-ref", "refs/heads/main", head]);
    await recountRepository(repo.id);
    expect((await readRepo(repo.id))?.sizeBytes).toBeLessThan(3 * MIB);
    expect(await duplicate(bea, repo, `${bea.username}/large`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("need more space") },
    });
    expect(await db().repo.count({ where: { ownerId: bea.id } })).toBe(0);
  });

  test("S147 is not created if its source has grown since the storage was reserved", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    const prepare = async () => {
      const file = { oid: "a".repeat(64), size: 17 * MIB };
      await db().lfsObject.create({ data: { repoId: repo.id, oid: file.oid, sizeBytes: file.size, location: "nowhere" } });
      await commitTo(repo, ada, { "late.bin": lfsPointerTo(file) });
    };
    const copy = duplicateRepo(bea.actor, nameOf(repo), { owner: bea.username, name: "late", prepare }, from);
    await expect(copy).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("has changed in the meantime"),
    });
    expect(await db().repo.count({ where: { ownerId: bea.id } })).toBe(0);
  });

  test("is private in an organization with that default, and a user can create thirty copies an hour", async () => {
    const ada = await someCaller();
    const [org, repo] = [await organizationOf(ada), await someRepo(ada)];
    await db().organization.update({ where: { id: org.id }, data: { defaultVisibility: "private" } });
    expect((await duplicate(ada, repo, `${org.name}/by-default`)).status).toBe(200);
    expect(await found("model", `${org.name}/by-default`)).toMatchObject({ isPrivate: true });
    await db().throttle.update({ where: { key: throttleKey("repo_duplicate", ada.id) }, data: { count: 29 } });
    expect((await duplicate(ada, repo, `${org.name}/open`, { visibility: "public" })).status).toBe(200);
    expect(await found("model", `${org.name}/open`)).toMatchObject({ isPrivate: false });
    expect((await duplicate(ada, repo, `${org.name}/one-more`)).status).toBe(429);
  });

  test("is removed if its content cannot be copied", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const path = await openRepository(repo);
    const blob = (await runGit(path, ["rev-parse", `${sha}:a.txt`])).toString().trim();
    await breakObject(path, blob);
    expect((await duplicate(bea, repo, `${bea.username}/broken`)).status).toBe(500);
    expect(await db().repo.count({ where: { ownerId: bea.id } })).toBe(0);
  });
});

async function breakObject(path: string, blob: string): Promise<void> {
  const { rm } = await import("node:fs/promises");
  await rm(`${path}/objects/${blob.slice(0, 2)}/${blob.slice(2)}`, { force: true });
  await rm(`${path}/objects/pack`, { recursive: true, force: true });
}

describe("large files", () => {
  test("are listed, each with one of its paths, for users who may write", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    const present = await commitFile(ada, repo, "now and then.bin");
    const past = await commitFile(ada, repo, "side.bin", { branch: "side" });
    const unnamed = { oid: "f".repeat(64), size: 3 };
    await db().lfsObject.create({ data: { repoId: repo.id, oid: unnamed.oid, sizeBytes: 3, location: "nowhere" } });
    const { body } = await send(ada, "GET", `${apiPath(repo)}/lfs-files`);
    const expected = [
      { fileOid: present.oid, oid: present.oid, filename: "now and then.bin", ref: "refs/heads/main", size: 6_000 },
      { fileOid: past.oid, oid: past.oid, filename: "side.bin", size: 6_000 },
      { fileOid: unnamed.oid, oid: unnamed.oid, filename: unnamed.oid, size: 3 },
    ].map((file) => ({ ...file, pushedAt: expect.any(String) }));
    expect(body).toEqual(expected.toSorted((a, b) => (a.oid < b.oid ? -1 : 1)));
    expect((await send(bea, "GET", `${apiPath(repo)}/lfs-files`)).status).toBe(403);
    expect((await send(undefined, "GET", `${apiPath(repo)}/lfs-files`)).status).toBe(401);
  });

  const remove = (caller: Caller, repo: Repo, ...sha: string[]) =>
    send(caller, "POST", `${apiPath(repo)}/lfs-files/batch`, { deletions: { sha, rewriteHistory: true } });

  test("S148 are deleted only when no branch, tag or pull request refers to them, and only from this repository", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const repo = await someRepo(ada);
    const [kept, gone] = [await commitFile(ada, repo, "kept.bin"), await commitFile(ada, repo, "gone.bin", { branch: "side" })];
    expect((await duplicate(bea, repo, `${bea.username}/tides`)).status).toBe(200);
    const copy = await found("model", `${bea.username}/tides`);

    expect(await remove(ada, repo, kept.oid, gone.oid)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('"gone.bin"') },
    });
    expect((await remove(bea, repo, gone.oid)).status).toBe(403);
    expect((await remove(ada, repo, "../..")).status).toBe(400);
    const path = await openRepository(repo);
    const side = (await resolveRef(path, "refs/heads/side")) as string;
    await runGit(path, ["update-ref", "refs/pr/1", side]);
    expect((await send(ada, "DELETE", `${apiPath(repo)}/branch/side`)).status).toBe(200);
    expect((await remove(ada, repo, gone.oid)).status).toBe(409);
    await runGit(path, ["update-ref", "-d", "refs/pr/1"]);

    const before = (await readRepo(repo.id)) as Repo;
    expect(await remove(ada, repo, gone.oid)).toEqual({ status: 200, body: {} });
    expect((await readRepo(repo.id))?.lfsBytes).toBe(before.lfsBytes - gone.size);
    expect(await db().lfsObject.count({ where: { repoId: repo.id } })).toBe(1);
    expect(await db().storageHold.count({ where: { ownerId: ada.id } })).toBe(0);
    expect(await db().auditEvent.count({ where: { type: "repo.delete_files", actorId: ada.id } })).toBe(1);
    const served = await fetch(`${world.origin}/${copy.fullName}/resolve/side/gone.bin`);
    expect(Buffer.from(await served.arrayBuffer()).equals(gone.content)).toBe(true);

    expect((await send(bea, "DELETE", `${apiPath(copy)}/branch/side`)).status).toBe(200);
    expect((await remove(bea, copy, gone.oid)).status).toBe(200);
    expect(await db().storageHold.findMany({ where: { ownerId: bea.id } })).toMatchObject([{ bytes: 6_000n, isRemoved: true }]);

    await expect(commitTo(before, ada, { "again.bin": lfsPointerTo(gone) })).rejects.toMatchObject({ code: "conflict" });
    await commitTo((await readRepo(repo.id)) as Repo, ada, { "a.txt": "a" });
    await db().refUpdate.create({ data: { id: "b".repeat(24), repoId: repo.id, asked: [], claimedUntil: new Date() } });
    expect((await remove(ada, repo, "f".repeat(64))).status).toBe(409);
  });

  test("S136 the size counted for a deletion does not reveal that another user's private repository has the file", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const [hidden, own] = [await someRepo(ada, { isPrivate: true }), await someRepo(bea)];
    const file = await storeFile(hidden);
    await storeAgain(own, file);
    expect((await remove(bea, own, file.oid)).status).toBe(200);
    expect(await db().storageHold.findMany({ where: { ownerId: bea.id } })).toMatchObject([{ bytes: 6_000n, isRemoved: true }]);
  });

  test("S148 are found in the history under any path, and if a tag points to the pointer itself", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const used: File[] = [];
    for (const name of ["\nx", "\rx", "a\u2028b"]) used.push(await commitFile(ada, repo, name));
    for (const kind of ["plain", "annotated"]) {
      const file = await storeFile(repo);
      const blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: lfsPointerTo(file) })).toString().trim();
      const tag = `object ${blob}\ntype blob\ntag ${kind}\ntagger Ada <ada@example.test> 0 +0000\n\nThe file\n`;
      const target = kind === "plain" ? blob : (await runGit(path, ["mktag"], { input: tag })).toString().trim();
      await runGit(path, ["update-ref", `refs/tags/${kind}`, target]);
      used.push(file);
    }
    for (const { oid } of used) {
      const refused = { status: 409, body: { error: expect.stringContaining("still refers") } };
      expect(await remove(ada, repo, oid)).toMatchObject(refused);
    }
    expect((await send(ada, "GET", `${apiPath(repo)}/lfs-files`)).body).toHaveLength(used.length);
  });

  test("can be deleted a thousand at a time", async () => {
    const ada = await someCaller();
    const oids = Array.from({ length: 1_000 }, (_, at) => String(at).padStart(64, "0"));
    expect((await remove(ada, await someRepo(ada), ...oids)).status).toBe(200);
  });

  test("are copied to another repository by users who may write to that repository", async () => {
    const [ada, bea] = [await someCaller(), await someCaller()];
    const [source, target] = [await someRepo(ada), await someRepo(bea, { type: "dataset" })];
    const file = await commitFile(ada, source, "tide.bin");
    const files = [file.oid, "0".repeat(64)].map((sha256) => ({ sha256, xetHash: "a".repeat(64), filename: "tide.bin" }));
    const copy = (caller: Caller) =>
      send(caller, "POST", `${apiPath(source)}/lfs-files/duplicate`, {
        target: { type: "dataset", name: target.fullName },
        files,
      });
    expect((await copy(ada)).status).toBe(403);
    expect(await copy(bea)).toMatchObject({ status: 200, body: { failed: [{ sha256: "0".repeat(64) }] } });
    expect(await db().lfsObject.findMany({ where: { repoId: target.id } })).toMatchObject([{ oid: file.oid }]);
    await updateRepoSettings(ada.actor, nameOf(source), { isPrivate: true }, from);
    expect((await copy(bea)).status).toBe(404);
  });

  test("S135 are not copied if the source becomes private or the reader is disabled meanwhile", async () => {
    const [ada, bea, cy] = [await someCaller(), await someCaller(), await someCaller()];
    for (const [caller, ending, status] of [
      [bea, (source: Repo) => `update repo set is_private = true where id = '${source.id}'`, 404],
      [cy, () => `update "user" set disabled_at = now() where id = '${cy.id}'`, 401],
    ] as const) {
      const [source, target] = [await someRepo(ada), await someRepo(caller)];
      const { oid } = await commitFile(ada, source, "tide.bin");
      const body = { target: { type: "model", name: target.fullName }, files: [{ sha256: oid }] };
      const copy = () => send(caller, "POST", `${apiPath(source)}/lfs-files/duplicate`, body);
      const [copied] = await queueForLock(`lock table xet_file in access exclusive mode; ${ending(source)}`, [copy]);
      expect((await copied)?.status).toBe(status);
      expect(await db().lfsObject.count({ where: { repoId: target.id } })).toBe(0);
    }
  });
});

test("the tags of public repositories are listed by type", async () => {
  const ada = await someCaller();
  const readme = (tag: string) => ({ "README.md": `---\ntags: [${tag}]\n---\n` });
  await commitTo(await someRepo(ada, { type: "dataset" }), ada, readme("low-water"));
  await commitTo(await someRepo(ada, { type: "dataset", isPrivate: true }), ada, readme("hidden-reef"));
  const { body } = await send(undefined, "GET", "/api/datasets-tags-by-type");
  expect(body.other).toContainEqual({ id: "low-water", label: "low-water", type: "other" });
  expect(JSON.stringify(body)).not.toContain("hidden-reef");
  expect((await send(undefined, "GET", "/api/models-tags-by-type")).status).toBe(200);
});
