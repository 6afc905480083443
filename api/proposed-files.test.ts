import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { from } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { PROPOSED_FILES_MAX } from "#core/hub/lfs/objects/record-lfs-object.ts";
import { POINTERS_MAX, RELEASED_MAX } from "#core/hub/lfs/proposals/proposed-files.ts";
import { LFS_LEFTOVER_HOURS, sweepLfsLeftovers } from "#core/hub/lfs/sweep-lfs-leftovers.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { deleteAccount } from "#core/hub/owners/delete-owner.ts";
import { countOwnedRepos } from "#core/hub/owners/overview.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { contentOf, fileHashOf, oidOf, someXorb, type TestFile } from "#core/hub/xet/testing/xet-files.ts";
import { recountStorage } from "#core/storage/make-room.ts";
import { setStorageQuota } from "#core/storage/manage-quotas.ts";
import { readStorageUsage } from "#core/storage/read-usage.ts";
import { commit, git, mustGit, remote, workingCopy } from "./testing/git-client.ts";
import { type Caller, header, ndjson, sendAs, someCaller } from "./testing/hub-caller.ts";
import { actionsFor, askBatch, someObject, type TestObject } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";
import { askXetToken, getXet, putXorb, uploadByXet, xetAccess } from "./testing/xet.ts";

/** See decision 038. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let [ada, bea, cleo]: Caller[] = [];
let repo: Repo;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

async function begin(input: Parameters<typeof someRepo>[1] = {}): Promise<void> {
  ada = await someCaller("manage-repos", "write-discussions");
  [bea, cleo] = [await someCaller("write-discussions"), await someCaller("write-discussions")];
  repo = await someRepo(ada, input);
  await commitTo(repo, ada, { "README.md": "# Tide\n" });
}

const api = (path: string) => `${world.origin}/api/models/${repo.fullName}${path}`;
const upload = (caller: Caller | undefined, object: TestObject, more = {}) =>
  askBatch(
    world.origin,
    repo,
    { operation: "upload", objects: [object].map(({ oid, size }) => ({ oid, size })), ...more },
    caller,
  );

async function send(caller: Caller | undefined, object: TestObject): Promise<void> {
  const answer = await upload(caller, object);
  const { upload: put, verify } = answer.objects[0]?.actions ?? {};
  const stored = await fetch(put?.href ?? "", {
    method: "PUT",
    body: Uint8Array.from(object.content),
    headers: put?.header ?? {},
  });
  expect(stored.status).toBe(200);
  const body = JSON.stringify({ oid: object.oid, size: object.size });
  if (verify) expect((await fetch(verify.href, { method: "POST", body })).status).toBe(200);
}

const lfsFile = (path: string, { oid, size }: Named) => ({
  key: "lfsFile",
  value: { path, algo: "sha256", oid, size },
});

type Named = Pick<TestObject, "oid" | "size">;
const commitFile = async (caller: Caller | undefined, to: string, object: Named, path = "weights.bin") =>
  fetch(api(`/commit/${to}`), {
    method: "POST",
    headers: { authorization: `Bearer ${caller?.accessToken}`, "content-type": "application/x-ndjson" },
    body: ndjson(header(), lfsFile(path, object)),
  });
const propose = (caller: Caller | undefined, object: Named) => commitFile(caller, "main?create_pr=1", object);

const merge = (caller: Caller | undefined, num = 1) => sendAs(caller, "POST", api(`/discussions/${num}/merge`), {});

async function read(revision: string, path = "weights.bin"): Promise<string | number> {
  const response = await fetch(`${world.origin}/${repo.fullName}/resolve/${encodeURIComponent(revision)}/${path}`);
  return response.ok ? sha256(Buffer.from(await response.arrayBuffer())) : response.status;
}

const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

const usedBy = async (caller: Caller | undefined) => {
  const owner = { kind: "user", id: caller?.id ?? "", handle: caller?.username ?? "" } as const;
  return (await readStorageUsage(operatorCommand, owner)).bytes.lfs;
};
const quota = (caller: Caller | undefined, size: string) => setStorageQuota(operatorCommand, caller?.username ?? "", size, from);
const sweep = (hours: number) => sweepLfsLeftovers(new AbortController().signal, new Date(Date.now() + hours * 3_600_000));
const stores = () => db().repo.count({ where: { proposedToId: repo.id } });

describe.each(["a folder", "a bucket"])("in %s, a large file of a pull request", (storage) => {
  beforeAll(async () => {
    if (storage === "a folder") return;
    const bucket = await startBucket();
    return bucket.stop;
  });

  test("counts for its author from the Git LFS upload to the merge, and everybody can read it", async () => {
    await begin();
    const object = someObject(50_000);
    await send(bea, object);
    expect((await propose(bea, object)).status).toBe(200);
    expect(await read("refs/pr/1")).toBe(object.oid);
    expect(await read("main")).toBe(404);
    const [asked] = await actionsFor(world.origin, repo, "download", [object]);
    const download = await fetch(asked?.actions?.download?.href ?? "");
    expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(object.oid);
    expect([await usedBy(ada), await usedBy(bea)]).toEqual([0, 50_000]);
    const more = someObject(6_000);
    await send(bea, more);
    expect((await commitFile(bea, "refs%2Fpr%2F1", more, "more.bin")).status).toBe(200);
    expect((await merge(ada)).status).toBe(200);
    expect([await usedBy(ada), await usedBy(bea)]).toEqual([56_000, 0]);
    expect(await read("main")).toBe(object.oid);
    expect(await read("refs/pr/1", "more.bin")).toBe(more.oid);
    await sweep(LFS_LEFTOVER_HOURS + 1);
    expect(await read("main")).toBe(object.oid);
    expect(await stores()).toBe(0);
    expect(await recountStorage()).toBe(0);
  });

  test("is in its author's store from the Xet upload to the merge", async () => {
    await begin();
    const token = bea?.accessToken;
    const access = await xetAccess(world.origin, repo, "write", { token, query: "?create_pr=1" });
    const xorb = await someXorb([randomBytes(20_000), randomBytes(30_000)]);
    const file: TestFile = { terms: [{ xorb }] };
    await uploadByXet(access, file);
    const content = contentOf(file);
    expect((await propose(bea, { oid: oidOf(file), size: content.length })).status).toBe(200);
    expect(await read("refs/pr/1")).toBe(sha256(content));
    expect(await usedBy(ada)).toBe(0);
    expect(await usedBy(bea)).toBeGreaterThan(50_000);
    const own = await xetAccess(world.origin, repo, "write", { token: ada?.accessToken });
    expect(own.casUrl).not.toBe(access.casUrl);
    expect((await getXet(own, `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(404);
    expect((await getXet({ ...access, casUrl: own.casUrl }, `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(403);
    const next = await xetAccess(world.origin, repo, "write", { token, revision: "refs/pr/1" });
    expect(next.casUrl).toBe(access.casUrl);
    expect((await merge(ada)).status).toBe(200);
    expect(await read("main")).toBe(sha256(content));
    expect((await getXet(own, `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(200);
    expect(await usedBy(ada)).toBeGreaterThan(50_000);
    expect(await recountStorage()).toBe(0);
  });
});

describe("S149 the right to upload for a pull request", () => {
  test("is limited to people who may read the content and open pull requests", async () => {
    await begin();
    const status = async (caller?: Caller, more = {}) => (await upload(caller, someObject(), more)).status;
    expect(await status(bea)).toBe(200);
    expect(await status(bea, { ref: { name: "refs/pr/7" } })).toBe(200);
    expect(await status(bea, { ref: { name: "refs/heads/main" } })).toBe(403);
    expect(await status(await someCaller("read-repos"))).toBe(403);
    expect(await status()).toBe(401);
    const xet = async (caller?: Caller, query = "?create_pr=1", revision = "main") =>
      (await askXetToken(world.origin, repo, "write", { token: caller?.accessToken, query, revision })).status;
    expect([await xet(bea), await xet(bea, ""), await xet(), await xet(bea, "", "refs/pr/7")]).toEqual([200, 403, 401, 403]);
    await db().repo.update({ where: { id: repo.id }, data: { hasDiscussions: false } });
    expect([await status(bea), await xet(bea), await status(ada)]).toEqual([409, 409, 200]);
    await db().repo.update({ where: { id: repo.id }, data: { hasDiscussions: true, isReadOnly: true } });
    expect([await status(bea), await xet(bea)]).toEqual([403, 403]);
    await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: false, gated: "manual" } });
    expect([await status(bea), await xet(bea)]).toEqual([403, 403]);
    await db().repo.update({ where: { id: repo.id }, data: { isPrivate: true } });
    expect([await status(bea), await xet(bea)]).toEqual([404, 404]);
  });

  test("is checked again at each use of an issued URL or token", async () => {
    await begin();
    const object = someObject();
    const put = (await upload(bea, object)).objects[0]?.actions?.upload;
    const access = await xetAccess(world.origin, repo, "write", { token: bea?.accessToken, query: "?create_pr=1" });
    await db().repo.update({ where: { id: repo.id }, data: { isPrivate: true } });
    expect((await fetch(put?.href ?? "", { method: "PUT", body: Uint8Array.from(object.content) })).status).toBe(404);
    expect((await putXorb(access, await someXorb([randomBytes(20_000)]))).status).toBe(404);
    expect(await usedBy(bea)).toBe(0);
  });

  test("nobody can see or use another user's uploads", async () => {
    await begin();
    const object = someObject();
    await send(bea, object);
    const isKnownTo = async (caller?: Caller) => (await upload(caller, object)).objects[0]?.actions === undefined;
    expect([await isKnownTo(bea), await isKnownTo(cleo), await isKnownTo(ada)]).toEqual([true, false, false]);
    const download = await askBatch(world.origin, repo, { operation: "download", objects: [object] }, bea);
    expect(download.objects[0]?.error).toMatchObject({ code: 404 });
    expect((await propose(cleo, object)).status).toBe(400);
    expect((await commitFile(ada, "main", object)).status).toBe(400);
    expect((await propose(bea, object)).status).toBe(200);
    expect([await isKnownTo(cleo), (await propose(cleo, object)).status]).toEqual([false, 400]);
    await send(ada, object);
    expect([await isKnownTo(cleo), (await propose(cleo, object)).status]).toEqual([true, 200]);
  });
});

describe("storage for pull requests", () => {
  test("counts against the author's quota, and a refusal states the author's usage", async () => {
    await begin();
    await quota(bea, "1 MB");
    const refused = await upload(bea, someObject(1_100_000));
    expect(refused.status).toBe(507);
    expect(refused.message).toContain(`${bea?.username} uses 0 bytes of 1 MB`);
    expect((await upload(cleo, someObject(1_100_000))).status).toBe(200);
    await send(bea, someObject(900_000));
    expect((await upload(bea, someObject(200_000))).status).toBe(507);
  });

  test("counts for the owner after a merge, which is refused if the owner has no storage left", async () => {
    await begin();
    const object = someObject(1_100_000);
    await send(bea, object);
    expect((await propose(bea, object)).status).toBe(200);
    await quota(ada, "1 MB");
    const refused = await merge(ada);
    expect([refused.status, refused.body.code]).toEqual([507, "storage_full"]);
    expect([await usedBy(ada), await usedBy(bea)]).toEqual([0, 1_100_000]);
    const branched = await sendAs(ada, "POST", api("/branch/tried"), { startingPoint: "refs/pr/1" });
    expect(branched.status).toBe(507);
    await quota(ada, "5 MB");
    expect((await merge(ada)).status).toBe(200);
    expect([await usedBy(ada), await usedBy(bea)]).toEqual([1_100_000, 0]);
  });

  test("counts for the owner and no longer for the author after a merge, even into a private repository", async () => {
    await begin();
    const object = someObject(400_000);
    await send(bea, object);
    expect((await propose(bea, object)).status).toBe(200);
    await db().repo.update({ where: { id: repo.id }, data: { isPrivate: true } });
    expect((await merge(ada)).status).toBe(200);
    expect([await usedBy(ada), await usedBy(bea)]).toEqual([400_000, 0]);
    expect(await db().storageHold.count({ where: { ownerId: bea?.id ?? "" } })).toBe(0);
  });

  test("is freed two days after an upload that no commit contains, and after the commits are deleted", async () => {
    await begin();
    const [kept, dropped] = [someObject(10_000), someObject(20_000)];
    for (const object of [kept, dropped]) await send(bea, object);
    const access = await xetAccess(world.origin, repo, "write", { token: bea?.accessToken, query: "?create_pr=1" });
    const xorb = await someXorb([randomBytes(20_000)]);
    await uploadByXet(access, { terms: [{ xorb }] });
    await propose(bea, kept);
    await sweep(LFS_LEFTOVER_HOURS - 1);
    expect(await usedBy(bea)).toBeGreaterThan(50_000);
    await sweep(LFS_LEFTOVER_HOURS + 1);
    expect(await read("refs/pr/1")).toBe(kept.oid);
    expect((await upload(bea, dropped)).objects[0]?.actions).toBeDefined();
    expect((await propose(bea, { oid: oidOf({ terms: [{ xorb }] }), size: 20_000 })).status).toBe(400);
    await sendAs(bea, "POST", api("/discussions/1/status"), { status: "closed" });
    expect(await read("refs/pr/1")).toBe(kept.oid);
    expect((await sendAs(ada, "DELETE", api("/discussions/1"))).status).toBe(200);
    await sweep(LFS_LEFTOVER_HOURS + 1);
    expect(await db().lfsObject.count({ where: { oid: kept.oid } })).toBe(0);
    await sweep(31 * 24);
    expect([await usedBy(bea), await stores()]).toEqual([0, 0]);
    expect(await recountStorage()).toBe(0);
  });

  test("is deleted with the author's account, and then a pull request without its files cannot be merged", async () => {
    await begin();
    const object = someObject();
    await send(bea, object);
    await propose(bea, object);
    const id = bea?.id ?? "";
    expect(await countOwnedRepos(operatorCommand, id)).toEqual({ model: 0, dataset: 0, space: 0 });
    expect((await sendAs(bea, "GET", `${world.origin}/api/settings/repositories`)).body ?? []).toEqual([]);
    await deleteAccount(operatorCommand, id, from);
    expect(await db().event.count({ where: { payload: { path: ["repo", "owner", "id"], equals: id } } })).toBe(0);
    expect(await read("refs/pr/1")).toBe(404);
    const refused = await merge(ada);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain(object.oid);
    await send(ada, object);
    expect((await merge(ada)).status).toBe(200);
    expect(await read("main")).toBe(object.oid);
  });

  test("is deleted with the repository", async () => {
    await begin();
    await send(bea, someObject(10_000));
    expect((await sendAs(ada, "DELETE", `${world.origin}/api/repos/delete`, { type: "model", name: repo.name })).status).toBe(
      200,
    );
    expect([await stores(), await usedBy(bea)]).toEqual([0, 0]);
  });
});

describe("S137 S149 proposals of strangers", () => {
  const storeId = async () => (await db().repo.findFirstOrThrow({ where: { proposedToId: repo.id } })).id;
  const pointers = (store: string | null, count: number) => db().$executeRaw`
    INSERT INTO proposed_file (repo_id, num, blob, oid, store_id)
    SELECT ${repo.id}::text, 99, 'blob ' || nth, 'oid', ${store}::text FROM generate_series(1, ${count}::int) AS nth`;

  test("can contain only a limited number of one user's pointers, because no quota counts pointers", async () => {
    await begin();
    const object = someObject();
    await send(bea, object);
    await pointers(await storeId(), POINTERS_MAX);
    const refused = await propose(bea, object);
    expect([refused.status, (await refused.json()).error]).toEqual([400, expect.stringContaining("at most 50,000 large files")]);
    expect(await db().proposedFile.count({ where: { repoId: repo.id } })).toBe(POINTERS_MAX);
    await send(cleo, object);
    expect((await propose(cleo, object)).status).toBe(200);
  });

  test("leave a limited number of rows after their commits are deleted", async () => {
    await begin();
    const object = someObject();
    await send(bea, object);
    await propose(bea, object);
    await pointers(null, RELEASED_MAX);
    await sendAs(bea, "POST", api("/discussions/1/status"), { status: "closed" });
    expect((await sendAs(ada, "DELETE", api("/discussions/1/ref"))).status).toBe(200);
    expect(await db().proposedFile.count({ where: { repoId: repo.id } })).toBe(0);
  });

  test("can contain a limited number of one user's files for one repository", async () => {
    await begin();
    await send(bea, someObject());
    const another = someObject();
    const put = (await upload(bea, another)).objects[0]?.actions?.upload;
    const [store, step] = [await storeId(), PROPOSED_FILES_MAX / 25];
    for (let from = 1; from < PROPOSED_FILES_MAX; from += step) {
      await db().$executeRaw`INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
        SELECT ${store}::text, 'oid ' || nth, 1, 'local:' || nth FROM generate_series(${from}::int, ${from + step - 1}::int) AS nth`;
    }
    const refused = await fetch(put?.href ?? "", { method: "PUT", body: Uint8Array.from(another.content) });
    expect(refused.status).toBe(507);
  });
});

test("S149 a large file is kept if its commit is deleted from a pull request and pushed again", async () => {
  await begin();
  const object = someObject();
  await send(bea, object);
  await propose(bea, object);
  await sendAs(bea, "POST", api("/discussions/1/status"), { status: "closed" });
  expect((await sendAs(ada, "DELETE", api("/discussions/1/ref"))).status).toBe(200);
  expect((await commitFile(bea, "refs%2Fpr%2F1", object)).status).toBe(200);
  await sweep(LFS_LEFTOVER_HOURS + 1);
  expect(await read("refs/pr/1")).toBe(object.oid);
});

test("S149 a merge is refused if the uploads of the pull request's author are deleted at that moment", async () => {
  await begin();
  const object = someObject();
  await send(bea, object);
  await propose(bea, object);
  await db().lfsObject.deleteMany({ where: { oid: object.oid } });
  await db().$executeRaw`UPDATE proposed_file SET store_id = (SELECT id FROM repo WHERE proposed_to_id = ${repo.id})
    WHERE repo_id = ${repo.id}`;
  expect((await merge(ada)).status).toBe(409);
});

test("git and git-lfs push to a pull request and merge it", async () => {
  await begin();
  const url = (caller: Caller | undefined) => remote(world.origin, `/${repo.fullName}`, caller?.accessToken ?? "");
  const draft = await sendAs(bea, "POST", api("/discussions"), { title: "Weights", pullRequest: true });
  expect(draft.body.num).toBe(1);
  const copy = await workingCopy({ "README.md": "# Tide\n" });
  await mustGit(copy, ["fetch", "--quiet", url(bea), "main"]);
  await mustGit(copy, ["reset", "--quiet", "--hard", "FETCH_HEAD"]);
  await mustGit(copy, ["lfs", "install", "--local"]);
  await mustGit(copy, ["lfs", "track", "*.bin"]);
  const content = randomBytes(30_000);
  await commit(copy, { "weights.bin": content });
  expect((await git(copy, ["push", url(bea), "HEAD:refs/heads/main"])).status).not.toBe(0);
  expect(await usedBy(bea)).toBe(0);
  expect(await git(copy, ["push", url(bea), "HEAD:refs/pr/1"])).toMatchObject({ status: 0 });
  expect(await read("refs/pr/1")).toBe(sha256(content));
  expect([await usedBy(ada), await usedBy(bea)]).toEqual([0, 30_000]);
  // The owner has not downloaded the file and pushes only the commits.
  const push = ["-c", "core.hooksPath=/dev/null", "push", url(ada), "HEAD:refs/heads/main"];
  await quota(ada, "0.02 MB");
  const refused = await git(copy, push);
  expect(refused.status).not.toBe(0);
  expect(refused.err).toContain("There is no room for these files");
  await quota(ada, "5 MB");
  expect(await git(copy, push)).toMatchObject({ status: 0 });
  expect([await usedBy(ada), await usedBy(bea)]).toEqual([30_000, 0]);
  expect(await read("main")).toBe(sha256(content));
});
