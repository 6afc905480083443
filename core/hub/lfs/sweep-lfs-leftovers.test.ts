import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { deadlock } from "../../testing/as-owner.ts";
import { someRepo } from "../testing/repos.ts";
import type { LfsObjectId } from "./lfs-object.ts";
import { noteLfsLeftover, storeLfsObject } from "./objects/record-lfs-object.ts";
import { lfsStorage } from "./storage/storages.ts";
import { LFS_LEFTOVER_HOURS, sweepLfsLeftovers } from "./sweep-lfs-leftovers.ts";
import { startBucket, type TestBucket } from "./testing/start-bucket.ts";

let ada: TestPerson;
beforeAll(async () => {
  ada = await signedInPerson();
});

const HOUR = 3_600_000;
const later = (hours = LFS_LEFTOVER_HOURS + 1) => new Date(Date.now() + hours * HOUR);
const sweep = (now = later()) => sweepLfsLeftovers(new AbortController().signal, now);

async function storedIn(...repos: { id: string }[]): Promise<LfsObjectId> {
  const content = randomBytes(100);
  const object = { oid: createHash("sha256").update(content).digest("hex"), size: content.length };
  for (const { id } of repos) await storeLfsObject(id, object, [content] as never);
  return object;
}

const fileOf = ({ oid }: LfsObjectId) => join(env().DATA_DIR, "lfs/objects", oid.slice(0, 2), oid.slice(2, 4), oid);
const leftovers = () => db().lfsLeftover.count();

test("an upload that deadlocks with its repository's deletion fails with not_found", async () => {
  const [repo, other] = [await someRepo(ada), await someRepo(ada)];
  await storedIn(repo, other);
  // The account's deletion locks the owner's usage for each repository, and the upload has locked the next repository.
  const deleteRepo = ({ id }: { id: string }) => `delete from repo where id = '${id}'`;
  const upload = deadlock<unknown>(deleteRepo(other), () => storedIn(repo), deleteRepo(repo));
  await expect(upload).rejects.toMatchObject({ code: "not_found" });
  await sweep();
});

describe("the sweep", () => {
  test("removes the files of a deleted repository, unless another repository has them", async () => {
    const [gone, other] = [await someRepo(ada), await someRepo(ada)];
    const [own, shared] = [await storedIn(gone), await storedIn(gone, other)];
    expect(await leftovers()).toBe(0);
    await db().repo.delete({ where: { id: gone.id } });
    expect(await sweep(later(LFS_LEFTOVER_HOURS - 1))).toBe(0);
    expect(existsSync(fileOf(own))).toBe(true);
    expect(await sweep()).toBe(1);
    expect(existsSync(fileOf(own))).toBe(false);
    expect(existsSync(fileOf(shared))).toBe(true);
    expect(await leftovers()).toBe(0);
    await db().repo.delete({ where: { id: other.id } });
    expect(await sweep()).toBe(1);
    expect(existsSync(fileOf(shared))).toBe(false);
  });

  test("keeps content that was uploaded again", async () => {
    const [gone, other] = [await someRepo(ada), await someRepo(ada)];
    const content = randomBytes(100);
    const object = { oid: createHash("sha256").update(content).digest("hex"), size: content.length };
    await storeLfsObject(gone.id, object, [content] as never);
    await db().repo.delete({ where: { id: gone.id } });
    // A sweep with tomorrow's date would count today's uploads as abandoned.
    await db().lfsLeftover.updateMany({ data: { createdAt: new Date(0) } });
    const uploads = Array.from({ length: 10 }, () => storeLfsObject(other.id, object, [content] as never));
    await Promise.all([...uploads, sweep(new Date()), sweep(new Date())]);
    await sweep();
    expect(existsSync(fileOf(object))).toBe(true);
    expect(await leftovers()).toBe(0);
  });

  test("removes old, half-written files of a killed process", async () => {
    const folder = join(env().DATA_DIR, "lfs/incoming");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "old"), "x");
    writeFileSync(join(folder, "new"), "x");
    utimesSync(join(folder, "old"), 0, 0);
    expect(await sweep(new Date())).toBe(1);
    expect(readdirSync(folder)).toEqual(["new"]);
  });

  test("forgets an upload without content", async () => {
    await noteLfsLeftover(`local:${"0".repeat(64)}`);
    expect(await sweep()).toBeGreaterThan(0);
    expect(await leftovers()).toBe(0);
  });
});

describe("in a bucket", () => {
  let bucket: TestBucket;
  beforeAll(async () => {
    bucket = await startBucket();
  });
  afterAll(() => bucket.stop());

  test("the sweep removes objects and aborts uploads in parts", async () => {
    const repo = await someRepo(ada);
    await storedIn(repo);
    await db().repo.delete({ where: { id: repo.id } });
    const parts = lfsStorage().newLocation(repo.id, "f".repeat(64));
    await db().lfsLeftover.create({ data: { location: parts, uploadId: "an-upload" } });
    bucket.intercept((_req, res) => {
      res.writeHead(403).end();
      return true;
    });
    expect(await sweep()).toBe(0);
    expect(await leftovers()).toBe(2);
    bucket.intercept((req, res) => {
      if (req.method !== "DELETE" || !req.url?.includes("uploadId=an-upload")) return false;
      res.writeHead(204).end();
      return true;
    });
    bucket.asked.length = 0;
    expect(await sweep()).toBe(2);
    bucket.intercept(undefined);
    expect(bucket.asked.filter((line) => line.startsWith("DELETE"))).toHaveLength(3);
    expect(await leftovers()).toBe(0);
    await lfsStorage().probe();
  });
});
