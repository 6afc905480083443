import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { commit, emptyFolder, git, mustGit, remote, workingCopy } from "./testing/git-client.ts";
import { somebodyWithToken } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Awaited<ReturnType<typeof somebodyWithToken>>;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await somebodyWithToken("write-repos");
});
afterAll(() => world.stop());

const filters = [
  ["clean", "git-lfs clean -- %f"],
  ["smudge", "git-lfs smudge -- %f"],
  ["process", "git-lfs filter-process"],
  ["required", "true"],
].flatMap(([name, value]) => ["-c", `filter.lfs.${name}=${value}`]);

async function lfsCopy(files: Record<string, string | Buffer>): Promise<string> {
  const copy = await workingCopy({ "README.md": "# Tide\n" });
  await mustGit(copy, ["lfs", "install", "--local"]);
  await mustGit(copy, ["lfs", "track", "*.bin"]);
  await commit(copy, files);
  return copy;
}

async function cloneOf(url: string): Promise<string> {
  const into = await emptyFolder();
  await mustGit(into, [...filters, "clone", "--quiet", url, "clone"]);
  const copy = join(into, "clone");
  await mustGit(copy, ["lfs", "install", "--local"]);
  return copy;
}

const contentOf = (copy: string, name: string) => readFile(join(copy, name));
const objectsOf = (repo: { id: string }) => db().lfsObject.count({ where: { repoId: repo.id } });

async function storyOf(repo: { fullName: string; id: string }): Promise<void> {
  const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
  const [first, second, other] = [randomBytes(3_000_000), randomBytes(10_000), randomBytes(500)];
  const copy = await lfsCopy({ "weights.bin": first, "empty.bin": "", "more.bin": other });
  const pushed = await git(copy, ["push", url, "main"]);
  expect(pushed).toMatchObject({ status: 0 });
  expect(pushed.err).not.toMatch(/lock/i);
  expect(await objectsOf(repo)).toBe(2);

  const clone = await cloneOf(url);
  expect((await contentOf(clone, "weights.bin")).equals(first)).toBe(true);
  expect((await contentOf(clone, "empty.bin")).length).toBe(0);

  await mustGit(copy, ["checkout", "--quiet", "-b", "other"]);
  await commit(copy, { "weights.bin": second });
  await mustGit(copy, ["checkout", "--quiet", "main"]);
  await commit(copy, { "README.md": "# Tides\n" });
  await mustGit(copy, ["push", url, "main", "other"]);
  expect(await objectsOf(repo)).toBe(3);

  await mustGit(clone, ["fetch", "--quiet", "origin"]);
  await mustGit(clone, ["checkout", "--quiet", "other"]);
  expect((await contentOf(clone, "weights.bin")).equals(second)).toBe(true);
  expect((await contentOf(clone, "more.bin")).equals(other)).toBe(true);
  expect(await mustGit(clone, ["lfs", "fsck"])).toContain("OK");
}

describe("git-lfs", () => {
  test("tracks, pushes, clones, fetches another version, and pushes two branches at once", async () => {
    await storyOf(await someRepo(ada, { isPrivate: true }));
  });

  test("sends large files directly to a bucket and reads them from there", async () => {
    const bucket = await startBucket();
    try {
      const repo = await someRepo(ada, { isPrivate: true });
      await storyOf(repo);
      expect(bucket.asked.filter((line) => line.startsWith("PUT ") && line.includes(repo.id)).length).toBeGreaterThanOrEqual(3);
    } finally {
      await bucket.stop();
    }
  });

  test("is refused with an unknown token or one that may only read, and leaves nothing behind", async () => {
    const repo = await someRepo(ada);
    const copy = await lfsCopy({ "weights.bin": randomBytes(1_000) });
    const reader = await somebodyWithToken("read-repos");
    for (const token of ["kh_wrong", reader.accessToken]) {
      const { status, err } = await git(copy, ["push", remote(world.origin, `/${repo.fullName}`, token), "main"]);
      expect(status).not.toBe(0);
      expect(err).toMatch(/not valid|lacks? permission|authentication|Authorization|denied|lacks/i);
    }
    expect(await objectsOf(repo)).toBe(0);
  });

  test("uploads only the missing objects when a push is tried again", async () => {
    const repo = await someRepo(ada);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await lfsCopy({ "one.bin": randomBytes(1_000), "two.bin": randomBytes(1_000) });
    const [oid = ""] = (await mustGit(copy, ["lfs", "ls-files", "--long"])).split(" ");
    await mustGit(copy, ["lfs", "push", "--object-id", url, oid]);
    expect(await objectsOf(repo)).toBe(1);
    const { status, err } = await git(copy, ["push", url, "main"], { GIT_CURL_VERBOSE: "1" });
    expect(status).toBe(0);
    const sent = new Set([...err.matchAll(/PUT \S*objects\/([0-9a-f]{64})/g)].map(([, one]) => one));
    expect(sent.size).toBe(1);
    expect(sent).not.toContain(oid);
    expect(await objectsOf(repo)).toBe(2);
  });

  test("cannot push a pointer to an object that it has not uploaded", async () => {
    const repo = await someRepo(ada);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await lfsCopy({ "deep weights.bin": randomBytes(1_000), "notes.txt": "n".repeat(130) });
    const { status, err } = await git(copy, ["push", "--no-verify", url, "main"]);
    expect(status).not.toBe(0);
    expect(err).toContain("large files are missing");
    expect(err).toContain("deep weights.bin");
    expect(err).not.toContain("notes.txt");
    expect(await mustGit(copy, ["ls-remote", url])).toBe("");
    await mustGit(copy, ["lfs", "push", "--all", url]);
    await mustGit(copy, ["push", "--no-verify", url, "main"]);
    await commit(copy, { "README.md": "# Tides\n" });
    await mustGit(copy, ["push", "--no-verify", url, "main"]);
  });

  test("reports in a clone that the service lacks an object", async () => {
    const repo = await someRepo(ada);
    const url = remote(world.origin, `/${repo.fullName}`, ada.accessToken);
    const copy = await lfsCopy({ "weights.bin": randomBytes(1_000) });
    await mustGit(copy, ["push", url, "main"]);
    await db().lfsObject.deleteMany({ where: { repoId: repo.id } });
    const into = await emptyFolder();
    const { status, err } = await git(into, [...filters, "clone", "--quiet", url, "clone"]);
    expect(status).not.toBe(0);
    expect(err).toContain("does not have the object");
  });
});
