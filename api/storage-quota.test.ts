import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { from, organizationOf } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { env, provideSettings } from "#core/env.ts";
import { countBytes } from "#core/hub/git/count-objects.ts";
import { listRefs } from "#core/hub/git/refs/git-refs.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { REPOSITORY_BYTES } from "#core/storage/limits.ts";
import { setStorageQuota } from "#core/storage/manage-quotas.ts";
import { readStorageUsage } from "#core/storage/read-usage.ts";
import { commit, git, mustGit, remote, workingCopy } from "./testing/git-client.ts";
import { actionsFor, askBatch, somebodyWithToken, someObject, type TestObject } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const MB = 1_000_000;
const person = (...scopes: Parameters<typeof somebodyWithToken>) =>
  somebodyWithToken(...(scopes.length > 0 ? scopes : (["write-repos"] as typeof scopes)));
type Person = Awaited<ReturnType<typeof person>>;
const quota = (handle: string, size: string) => setStorageQuota(operatorCommand, handle, size, from);
const ownerOf = ({ id, username }: Person) => ({ kind: "user", id, handle: username }) as const;
const usageOf = async (ada: Person) => (await readStorageUsage(operatorCommand, ownerOf(ada))).bytes;
const holds = (ownerId: string) => db().storageHold.count({ where: { ownerId, isRemoved: false } });
const filesOf = async (path: string) => (await readdir(join(path, "objects"), { recursive: true })).sort();
const said = (err: string) => err.replace(/\s*\nremote:\s*/g, " ").replace(/\s+/g, " ");

describe("a git push beyond the quota", () => {
  test("is refused with the used storage and advice, and does not change the repository", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await workingCopy({ "small.txt": "tide" });
    await mustGit(copy, ["push", "--quiet", url, "main"]);
    const [refs, files] = [await listRefs(path), await filesOf(path)];
    await quota(ada.username, "3 MB");
    await commit(copy, { "a.bin": randomBytes(2 * MB), "b.bin": randomBytes(2 * MB) });
    const pushed = await git(copy, ["push", url, "main"]);
    expect(pushed.status).not.toBe(0);
    expect(said(pushed.err)).toContain(`${ada.username} uses`);
    expect(said(pushed.err)).toMatch(/of 3 MB of storage\. There is no room for this push \((3\.9|4(\.\d)?) MB\)/);
    expect(said(pushed.err)).toContain(`${env().ORIGIN}/settings/storage`);
    expect(await listRefs(path)).toEqual(refs);
    expect(await filesOf(path)).toEqual(files);
    expect(await holds(ada.id)).toBe(0);

    await quota(ada.username, "10 MB");
    await mustGit(copy, ["push", url, "main"]);
    expect((await usageOf(ada)).git).toBeGreaterThan(4 * MB);
    expect(await holds(ada.id)).toBe(0);
  });

  test("is ended with the same message once git has read more data than there is storage", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    await quota(ada.username, "1 MB");
    const copy = await workingCopy(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`${at}.bin`, randomBytes(2 * MB)])));
    const { status, err } = await git(copy, ["push", remote(world.origin, `/${repo.fullName}`, ada.accessToken), "main"]);
    expect(status).not.toBe(0);
    expect(said(err)).toMatch(/uses 36\.9 kB of 1 MB of storage\. There is no room for this push \(1[12](\.\d)? MB\)/);
    expect(err).toContain("no storage left");
    expect((await listRefs(await openRepository(repo))).size).toBe(0);
  });

  test("can still delete branches, and create them at existing commits", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await workingCopy({ "a.txt": "a" });
    await mustGit(copy, ["push", "--quiet", url, "main", "main:other"]);
    await quota(ada.username, "0 mb");
    await mustGit(copy, ["push", url, "main:third", ":other"]);
    expect([...(await listRefs(await openRepository(repo))).keys()].sort()).toEqual(["refs/heads/main", "refs/heads/third"]);
  });

  test("S137 is refused if only its refs exceed the quota, even if git has packed the refs", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await workingCopy({ "a.txt": "a" });
    await mustGit(copy, ["push", "--quiet", url, "main"]);
    const refs = (count: number, name: string) => Array.from({ length: count }, (_, at) => `main:refs/tags/${name}/${at}`);
    const before = (await usageOf(ada)).git;
    await mustGit(copy, ["push", "--quiet", url, ...refs(100, "some")]);
    expect((await usageOf(ada)).git).toBeGreaterThan(before + 100 * 4_096);
    await mustGit(copy, ["push", "--quiet", url, ...refs(501, "many")]);
    expect(await readdir(join(path, "refs"), { recursive: true })).not.toContain("tags/many/0");
    expect((await listRefs(path)).size).toBe(602);
    const packed = await stat(join(path, "packed-refs"));
    expect((await usageOf(ada)).git).toBeLessThan(before + packed.size + 100 * 4_096);
    await quota(ada.username, "1 MB");
    const { status, err } = await git(copy, ["push", url, ...refs(300, "more")]);
    expect(status).not.toBe(0);
    expect(said(err)).toContain("There is no room for this push (1.2 MB)");
    expect((await listRefs(path)).size).toBe(602);
  });

  test("cannot use storage that simultaneous pushes have reserved", async () => {
    const ada = await person();
    const repos = await Promise.all([1, 2, 3, 4].map(() => someRepo(ada)));
    await quota(ada.username, "5 MB");
    const copies = await Promise.all(repos.map(() => workingCopy({ "a.bin": randomBytes(2 * MB) })));
    const runs = await Promise.all(
      repos.map((repo, at) =>
        git(copies[at] as string, ["push", remote(world.origin, `/${repo.fullName}`, ada.accessToken), "main"]),
      ),
    );
    expect(runs.filter(({ status }) => status === 0).length).toBe(2);
    expect((await usageOf(ada)).git).toBeLessThanOrEqual(5 * MB);
  });

  test("leaves nothing on disk if its branch is protected", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    await db().repo.update({ where: { id: repo.id }, data: { isDefaultBranchProtected: true } });
    const path = await openRepository(repo);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await workingCopy({ "a.txt": "a" });
    await mustGit(copy, ["push", "--quiet", url, "main"]);
    const files = await filesOf(path);
    const unrelated = await workingCopy({ "a.bin": randomBytes(2 * MB) });
    const { status, err } = await git(unrelated, ["push", "--force", url, "main"]);
    expect(status).not.toBe(0);
    expect(err).toContain("main is protected: its history cannot be rewritten");
    expect(await filesOf(path)).toEqual(files);
    await git(unrelated, ["push", "--force", url, "main", "main:other"]);
    expect((await usageOf(ada)).git).toBeGreaterThan(2 * MB);
  });

  test("counts even if git refuses its refs, so that an endless series of such pushes is stopped", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    const path = await openRepository(repo);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    await mustGit(await workingCopy({ "a.txt": "a" }), ["push", "--quiet", url, "main"]);
    await quota(ada.username, "3 MB");
    for (let round = 0; round < 3; round++) {
      const copy = await workingCopy({ "a.bin": randomBytes(2 * MB) });
      const { status } = await git(copy, ["push", url, "main:refs/heads/main/below"]);
      expect(status).not.toBe(0);
    }
    const bytes = await countBytes(path, 0);
    expect(bytes).toBeLessThan(3 * MB);
    expect((await usageOf(ada)).git).toBe(REPOSITORY_BYTES + bytes);
    expect(await holds(ada.id)).toBe(0);
  });

  test("to an outsider's pull request does not reveal how much the owner stores", async () => {
    const [ada, bea] = [await person(), await person("write-repos", "write-discussions")];
    const repo = await someRepo(ada);
    const sha = await commitTo(repo, ada, { "a.txt": "a" });
    const url = remote(world.origin, `/${repo.fullName}`, bea.accessToken);
    const opened = await fetch(`${world.origin}/api/models/${repo.fullName}/commit/main?create_pr=1`, {
      method: "POST",
      headers: { authorization: `Bearer ${bea.accessToken}`, "content-type": "application/x-ndjson" },
      body: ndjson({ "b.txt": Buffer.from("b") }),
    });
    expect(opened.status).toBe(200);
    await quota(ada.username, "1 MB");
    const copy = await workingCopy({ "c.bin": randomBytes(2 * MB) });
    await mustGit(copy, ["fetch", "--quiet", url, "refs/pr/1"]);
    await mustGit(copy, ["checkout", "--quiet", "FETCH_HEAD"]);
    await commit(copy, { "c.bin": randomBytes(2 * MB) });
    const { status, err } = await git(copy, ["push", url, "HEAD:refs/pr/1"]);
    expect(status).not.toBe(0);
    expect(said(err)).toContain("has no space for this push.");
    expect(err).not.toMatch(/ uses |of 1 MB/);
    expect(sha).toBeTruthy();
  });
});

test("a user who may only open pull requests can use a small share of the owner's storage, which blocks no one", async () => {
  const [ada, bea, cid] = [
    await person("write-repos", "write-discussions"),
    await person("write-repos", "write-discussions"),
    await person("write-repos", "write-discussions"),
  ];
  const repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
  // A repository's pull requests together may use a twentieth of the quota, and each author a quarter of that.
  await quota(ada.username, "100 MB");
  const propose = async ({ accessToken }: Person, bytes: number) => {
    const response = await fetch(`${world.origin}/api/models/${repo.fullName}/commit/main?create_pr=1`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/x-ndjson" },
      body: ndjson({ "b.bin": randomBytes(bytes) }),
    });
    return [response.status, ((await response.json()) as { error?: string }).error ?? ""] as const;
  };
  expect((await propose(bea, MB))[0]).toBe(200);
  const [status, message] = await propose(bea, MB);
  expect(status).toBe(507);
  expect(message).toContain("Pull requests from others can use only a small part of the storage");
  expect(message).not.toMatch(/\d+ [MG]B/);
  expect((await propose(cid, MB))[0]).toBe(200);
  expect((await propose(ada, 10 * MB))[0]).toBe(200);
  expect(await holds(ada.id)).toBe(0);
});

test("changes in an outsider's pull request use its share, and users who may write can always delete", async () => {
  const [ada, bea] = [await person("write-repos", "write-discussions"), await person("write-repos", "write-discussions")];
  const repo = await someRepo(ada);
  const names = Array.from({ length: 400 }, (_, index) => `${index}-${randomBytes(60).toString("hex")}`);
  await commitTo(repo, ada, { large: randomBytes(1.2 * MB), ...Object.fromEntries(names.map((name) => [name, "x"])) });
  const change = async ({ accessToken }: Person, key: string, values: readonly object[], query = "") => {
    const lines = [{ key: "header", value: { summary: "Change" } }, ...values.map((value) => ({ key, value }))];
    const response = await fetch(`${world.origin}/api/models/${repo.fullName}/commit/main${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/x-ndjson" },
      body: lines.map((line) => JSON.stringify(line)).join("\n"),
    });
    return response.status;
  };
  const copies = names.map((path) => ({ path: `copies/${path}/${path}`, srcPath: names[0] as string }));
  // An author's share is an eightieth of the quota: 25 kB.
  await quota(ada.username, "2 MB");
  expect(await change(bea, "copyFile", copies, "?create_pr=1")).toBe(507);
  expect(await change(bea, "copyFile", copies.slice(0, 1), "?create_pr=1")).toBe(507);
  expect(await change(bea, "deletedFile", [{ path: names[0] as string }], "?create_pr=1")).toBe(507);
  await quota(ada.username, "1 MB");
  expect(await change(ada, "copyFile", copies)).toBe(507);
  expect(await change(ada, "copyFile", [{ path: "copy", srcPath: names[0] as string }])).toBe(200);
  expect(await change(ada, "deletedFile", [{ path: names[0] as string }])).toBe(200);
  const tag = async (body: object) => {
    const response = await fetch(`${world.origin}/api/models/${repo.fullName}/tag/main`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  expect(await tag({ tag: "v1", message: "One" })).toBe(507);
  expect(await tag({ tag: "v1" })).toBeLessThan(300);
  expect(await holds(ada.id)).toBe(0);
});

test("a pull request that is refused because others used the repository's share does not use the author's share", async () => {
  const [ada, ...others] = await Promise.all(Array.from({ length: 6 }, () => person("write-repos", "write-discussions")));
  const last = others.pop() as Person;
  const [repo, elsewhere] = [await someRepo(ada as Person), await someRepo(ada as Person)];
  for (const each of [repo, elsewhere]) await commitTo(each, ada as Person, { "a.txt": "a" });
  await quota((ada as Person).username, "100 MB");
  const propose = async ({ accessToken }: Person, { fullName }: { fullName: string }, bytes: number) => {
    const response = await fetch(`${world.origin}/api/models/${fullName}/commit/main?create_pr=1`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/x-ndjson" },
      body: ndjson({ "b.bin": randomBytes(bytes) }),
    });
    return response.status;
  };
  // The repository's pull requests may use 5 MB, and each author 1.25 MB.
  for (const each of others) expect(await propose(each, repo, 1.2 * MB)).toBe(200);
  expect(await propose(last, repo, MB)).toBe(507);
  expect(await propose(last, elsewhere, MB)).toBe(200);
});

const ndjson = (files: Record<string, Buffer>) =>
  [
    { key: "header", value: { summary: "Add" } },
    ...Object.entries(files).map(([path, content]) => ({
      key: "file",
      value: { path, content: content.toString("base64"), encoding: "base64" },
    })),
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");

const filters = [
  ["clean", "git-lfs clean -- %f"],
  ["smudge", "git-lfs smudge -- %f"],
  ["process", "git-lfs filter-process"],
].flatMap(([name, value]) => ["-c", `filter.lfs.${name}=${value}`]);

describe("the quota for Git LFS", () => {
  test("makes the real client print the refusal and upload nothing", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    await quota(ada.username, "3 MB");
    const copy = await workingCopy();
    await mustGit(copy, ["lfs", "install", "--local"]);
    await mustGit(copy, ["lfs", "track", "*.bin"]);
    await mustGit(copy, [...filters, "add", "."]);
    await commit(copy, { "a.bin": randomBytes(2 * MB), "b.bin": randomBytes(2 * MB) });
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const { status, err } = await git(copy, ["push", url, "main"]);
    expect(status).not.toBe(0);
    expect(said(err)).toContain(`${ada.username} uses 36.9 kB of 3 MB of storage. There is no room for these 2 files (4 MB).`);
    expect(await db().lfsObject.count({ where: { repoId: repo.id } })).toBe(0);
    await quota(ada.username, "none");
    await mustGit(copy, ["push", url, "main"]);
    expect((await usageOf(ada)).lfs).toBe(4 * MB);
  });

  test("is checked again when an upload arrives, and a deletion releases the bytes", async () => {
    const ada = await person("write-repos", "manage-repos");
    const repo = await someRepo(ada);
    await quota(ada.username, "5.1 MB");
    const objects = [1, 2, 3, 4].map(() => someObject(2 * MB));
    const answers = await Promise.all(
      objects.map((object) => actionsFor(world.origin, repo, "upload", [object], { accessToken: ada.accessToken })),
    );
    const statuses = await Promise.all(
      answers.map(async ([answer], at) => {
        const response = await fetch(answer?.actions?.upload?.href ?? "", { method: "PUT", body: objects[at]?.content as never });
        const body = (await response.json()) as { message?: string; code?: string };
        if (response.status !== 200)
          expect(body).toMatchObject({ code: "storage_full", message: expect.stringMatching(/ uses /) });
        return response.status;
      }),
    );
    expect(statuses.sort()).toEqual([200, 200, 507, 507]);
    expect((await usageOf(ada)).lfs).toBe(4 * MB);
    expect(await holds(ada.id)).toBe(0);
    const stored = await db().lfsObject.findMany({ where: { repoId: repo.id } });
    const again = objects.find(({ oid }) => stored.some((row) => row.oid === oid));
    const body = { operation: "upload", objects: [{ oid: again?.oid, size: again?.size }] };
    expect(await askBatch(world.origin, repo, body, ada)).toMatchObject({ status: 200 });

    const deleted = await fetch(`${world.origin}/api/repos/delete`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": "application/json" },
      body: JSON.stringify({ name: repo.name, type: "model" }),
    });
    expect(deleted.status).toBe(200);
    expect(await usageOf(ada)).toMatchObject({ git: 0, lfs: 0 });
    // A deleted object counts for two more days, so that nobody can fill the quota again at once.
    const other = await someRepo(ada);
    await actionsFor(world.origin, other, "upload", [someObject(5 * MB)], { accessToken: ada.accessToken });
    await db().storageHold.updateMany({ where: { ownerId: ada.id, isRemoved: true }, data: { bytes: 9 * MB } });
    const refused = await askBatch(
      world.origin,
      other,
      { operation: "upload", objects: [{ oid: "a".repeat(64), size: 2 * MB }] },
      ada,
    );
    expect(refused).toMatchObject({ status: 507, message: expect.stringContaining("still being removed from the disk") });
  });

  test("S137 also limits the number of tiny files, since each file counts at least 5,000 bytes", async () => {
    const ada = await person();
    const repo = await someRepo(ada);
    await quota(ada.username, "0.049 MB");
    const files = ["a", "b", "c"].map((content) => someObject(content));
    const upload = async (file: TestObject) => {
      const [answer] = await actionsFor(world.origin, repo, "upload", [file], { accessToken: ada.accessToken });
      const to = answer?.actions?.upload;
      return (await fetch(to?.href ?? "", { method: "PUT", headers: to?.header ?? {}, body: file.content as never })).status;
    };
    const objects = files.map(({ oid, size }) => ({ oid, size }));
    expect(await askBatch(world.origin, repo, { operation: "upload", objects }, ada)).toMatchObject({ status: 507 });
    expect([await upload(files[0] as TestObject), await upload(files[1] as TestObject)]).toEqual([200, 200]);
    expect(await usageOf(ada)).toMatchObject({ lfs: 10_000 });
    const last = { operation: "upload", objects: [objects[2]] };
    expect(await askBatch(world.origin, repo, last, ada)).toMatchObject({ status: 507 });
  });

  test("includes storage that is reserved for uploads to a bucket until they are recorded", async () => {
    const bucket = await startBucket();
    try {
      const ada = await person();
      const repo = await someRepo(ada);
      await quota(ada.username, "5.1 MB");
      const [one, two] = [someObject(3 * MB), someObject(3 * MB)];
      const ask = () => actionsFor(world.origin, repo, "upload", [one], { accessToken: ada.accessToken });
      await ask();
      const [answer] = await ask();
      const body = { operation: "upload", objects: [{ oid: two.oid, size: two.size }] };
      expect(await askBatch(world.origin, repo, body, ada)).toMatchObject({
        status: 507,
        message: expect.stringContaining("with 3 MB more being uploaded"),
      });
      const { upload, verify } = answer?.actions ?? {};
      await fetch(upload?.href ?? "", { method: "PUT", headers: upload?.header ?? {}, body: one.content as never });
      const verified = await fetch(verify?.href ?? "", {
        method: "POST",
        headers: { "content-type": "application/vnd.git-lfs+json" },
        body: JSON.stringify({ oid: one.oid, size: one.size }),
      });
      expect(verified.status).toBe(200);
      expect(await usageOf(ada)).toMatchObject({ lfs: 3 * MB });
      expect(await holds(ada.id)).toBe(0);

      const late = someObject(2 * MB);
      const [sent] = await actionsFor(world.origin, repo, "upload", [late], { accessToken: ada.accessToken });
      const to = sent?.actions?.upload;
      await fetch(to?.href ?? "", { method: "PUT", headers: to?.header ?? {}, body: late.content as never });
      await quota(ada.username, "4 MB");
      const finish = () =>
        fetch(sent?.actions?.verify?.href ?? "", {
          method: "POST",
          headers: { "content-type": "application/vnd.git-lfs+json" },
          body: JSON.stringify({ oid: late.oid, size: late.size }),
        });
      expect((await finish()).status).toBe(507);
      expect(await usageOf(ada)).toMatchObject({ lfs: 3 * MB });
      await quota(ada.username, "10 MB");
      expect((await finish()).status).toBe(404);
    } finally {
      await bucket.stop();
    }
  });
});

describe("the commit API beyond the quota", () => {
  const post = (ada: Person, path: string, body: string, type = "application/x-ndjson") =>
    fetch(`${world.origin}/api/models/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": type },
      body,
    });

  test("refuses commits with 507 unless they only delete, and creates no repository with files", async () => {
    const ada = await person("write-repos", "manage-repos");
    const repo = await someRepo(ada);
    expect((await post(ada, `${repo.fullName}/commit/main`, ndjson({ "a.txt": Buffer.from("a") }))).status).toBe(200);
    await quota(ada.username, "1 MB");
    const refused = await post(ada, `${repo.fullName}/commit/main`, ndjson({ "b.bin": randomBytes(2 * MB) }));
    expect(refused.status).toBe(507);
    expect(await refused.json()).toMatchObject({
      code: "storage_full",
      error: expect.stringMatching(/of 1 MB of storage\. There is no room for this commit \(2 MB\)\. Delete/),
    });
    expect(refused.headers.get("x-error-message")).toMatch(/of 1 MB of storage/);
    const question = JSON.stringify({ files: [{ path: "new.txt", size: 3, sample: "" }] });
    expect((await post(ada, `${repo.fullName}/preupload/main`, question, "application/json")).status).toBe(200);
    await quota(ada.username, "0 MB");
    const full = await post(ada, `${repo.fullName}/preupload/main`, question, "application/json");
    expect([full.status, (await full.json()) as unknown]).toEqual([507, expect.objectContaining({ code: "storage_full" })]);
    const deletion = [
      { key: "header", value: { summary: "Tidy" } },
      { key: "deletedFile", value: { path: "a.txt" } },
    ];
    const tidied = await post(ada, `${repo.fullName}/commit/main`, deletion.map((line) => JSON.stringify(line)).join("\n"));
    expect(tidied.status).toBe(200);
    expect(await holds(ada.id)).toBe(0);
    const made = await fetch(`${world.origin}/api/repos/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "with-files", type: "model", license: "mit" }),
    });
    expect([made.status, await db().repo.count({ where: { ownerId: ada.id, name: "with-files" } })]).toEqual([507, 0]);
  });

  test("counts a commit even if its pull request could not be opened", async () => {
    const ada = await person("write-repos", "write-discussions");
    const repo = await someRepo(ada);
    expect((await post(ada, `${repo.fullName}/commit/main`, ndjson({ "a.txt": Buffer.from("a") }))).status).toBe(200);
    const lines = ndjson({ "b.bin": randomBytes(MB) }).replace('"Add"', JSON.stringify("x".repeat(300)));
    const refused = await post(ada, `${repo.fullName}/commit/main?create_pr=1`, lines);
    expect(refused.status).toBe(400);
    const bytes = await countBytes(await openRepository(repo), 0);
    expect((await usageOf(ada)).git).toBe(REPOSITORY_BYTES + bytes);
    expect(await holds(ada.id)).toBe(0);
  });

  test("a repository moves only to an owner with enough storage, and its bytes move with it", async () => {
    const ada = await person("write-repos", "manage-repos");
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.bin": randomBytes(2 * MB) });
    const organization = await organizationOf(ada);
    await quota(organization.name, "1 MB");
    const move = () =>
      fetch(`${world.origin}/api/repos/move`, {
        method: "POST",
        headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": "application/json" },
        body: JSON.stringify({ fromRepo: repo.fullName, toRepo: `${organization.name}/${repo.name}`, type: "model" }),
      });
    const refused = await move();
    expect([refused.status, (await refused.json()) as unknown]).toEqual([
      507,
      expect.objectContaining({ error: expect.stringContaining(`/organizations/${organization.name}/settings/storage`) }),
    ]);
    await quota(organization.name, "3 MB");
    expect((await move()).status).toBe(200);
    expect((await usageOf(ada)).git).toBe(0);
    const theirs = { kind: "organization", id: organization.id, handle: organization.name } as const;
    expect((await readStorageUsage(operatorCommand, theirs)).bytes.git).toBeGreaterThan(2 * MB);
  });
});

test("without a limit, no storage is reserved and no upload is refused", async () => {
  provideSettings({ STORAGE_USER_GB: "0" });
  try {
    const ada = await person();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "a.txt": "a" });
    const answer = await askBatch(
      world.origin,
      repo,
      { operation: "upload", objects: [{ oid: "b".repeat(64), size: 40_000 * MB }] },
      ada,
    );
    expect(answer.status).toBe(200);
    expect(await readStorageUsage(operatorCommand, ownerOf(ada))).toMatchObject({ repositories: { quota: null } });
  } finally {
    provideSettings({ STORAGE_USER_GB: "50" });
  }
});
