import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDatabaseDown } from "#core/database-errors.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { fairQueue } from "#core/fair-queue/fair-queue.ts";
import { sweepLfsLeftovers } from "#core/hub/lfs/sweep-lfs-leftovers.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { findKnownXorbs } from "#core/hub/xet/find-known-xorbs.ts";
import { hashOfText } from "#core/hub/xet/hashes.ts";
import { type Reconstruction, reconstructFile } from "#core/hub/xet/reconstruct-file.ts";
import { registerShard } from "#core/hub/xet/register-shard.ts";
import { fileHashOf, someShard, someXorb, type TestTerm } from "#core/hub/xet/testing/xet-files.ts";
import { signXetToken } from "#core/hub/xet/xet-token.ts";
import { type RequestContext, requestContext } from "#core/log.ts";
import { holdStorage } from "#core/storage/hold-storage.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";
import { getXet, postXet, putShard, putXorb, uploadByXet, xetAccess } from "./testing/xet.ts";

/** S145: the limits to what one caller with a token can cost. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
beforeAll(async () => {
  [world, ada] = [await startApiWorld(), await someCaller("manage-repos")];
});
afterAll(() => world.stop());

const writing = (repo: Repo, { accessToken: token } = ada) => xetAccess(world.origin, repo, "write", { token });
const someChunks = (count = 3) => Array.from({ length: count }, (_, at) => randomBytes(8_192 + at * 1_000));
const never = () => Promise.resolve(undefined);
const staying = { signal: new AbortController().signal, mustYield: () => false };

async function* inOne(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function entry(hash: string | number, ...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(48);
  if (typeof hash === "number") bytes.fill(hash, 0, 32);
  else hashOfText(hash).copy(bytes);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, 32 + at * 4);
  return bytes;
}

describe("S145 the chunks of a file must have 8 KiB on average", () => {
  test("a xorb may have the small chunks of many small files", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb(Array.from({ length: 300 }, () => randomBytes(30)));
    await putXorb(access, xorb);
    const files = xorb.chunks.map((_, start) => ({ terms: [{ xorb, start, end: start + 1 }] }));
    expect(await putShard(access, files)).toMatchObject({ status: 200 });
    expect(await db().lfsObject.count({ where: { repoId: repo.id } })).toBe(300);
  });

  test("a file of tiny chunks is refused", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb(Array.from({ length: 18 }, () => randomBytes(30)));
    await putXorb(access, xorb);
    expect(await putShard(access, [{ terms: [{ xorb }] }])).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("fewer than 8,192 bytes on average") },
    });
    expect(await putShard(access, [{ terms: [{ xorb, end: 16 }] }])).toMatchObject({ status: 200 });
  });

  test("a thousand tiny chunks are found both before and after large ones", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const tiny = await someXorb(Array.from({ length: 1_000 }, (_, at) => Buffer.from(`chunk ${at}`)));
    const large = await someXorb(
      Array.from({ length: 1_000 }, (_, at) => Buffer.alloc(17_000, `tide ${at}`)),
      "lz4",
    );
    for (const xorb of [tiny, large]) expect(await putXorb(access, xorb)).toMatchObject({ status: 200 });
    const small = (terms: TestTerm[]) => putShard(access, [{ terms }]);
    for (const terms of [
      [{ xorb: tiny }, { xorb: large }],
      [{ xorb: large }, { xorb: tiny }],
      [{ xorb: large }, { xorb: tiny, end: 17 }],
    ]) {
      const refusal = { status: 400, body: { error: expect.stringContaining("on average") } };
      expect(await small(terms)).toMatchObject(refusal);
    }
    expect(await small([{ xorb: large }, { xorb: tiny, end: 16 }])).toMatchObject({ status: 200 });
  });
});

describe("S145 an invalid shard is refused before the rest of it is read", () => {
  const header = Buffer.concat([
    Buffer.from("48465265706f4d6574614461746100556967456a7b815783a5bdd95ccdd14aa9", "hex"),
    entry(0, 2).subarray(32),
  ]);
  const bothFlags = 0xc0000000;

  test.each([
    ["when a file is in too many pieces", [entry(1, bothFlags, 100_001)], "at most 100,000 pieces"],
    ["when a xorb has too many chunks", [entry(255), entry(1, 0, 8_193)], "at most 8,192 chunks"],
  ])("%s", async (_, entries, sentence) => {
    const repo = await someRepo(ada);
    const shard = Buffer.concat([header, ...entries]);
    const asked = registerShard(repo, inOne(shard), { ...staying, mayStill: never });
    await expect(asked).rejects.toThrow(sentence);
  });

  test("when its Content-Length is too large", async () => {
    const access = await writing(await someRepo(ada));
    const { port, hostname, pathname } = new URL(access.casUrl);
    const headers = { authorization: `Bearer ${access.accessToken}`, "content-length": 65 * 1024 * 1024 };
    const req = request({ port, hostname, path: `${pathname}/v1/shards`, method: "POST", headers });
    req.on("error", () => undefined);
    req.write("x");
    const [res] = await once(req, "response");
    expect(res.statusCode).toBe(413);
    req.destroy();
  });
});

test("the second version of the API also accepts shards, and responds with lines of JSON", async () => {
  const repo = await someRepo(ada);
  const access = await writing(repo);
  const xorb = await someXorb(someChunks());
  await putXorb(access, xorb);
  const shard = await someShard([{ terms: [{ xorb }] }]);
  expect(await postXet(access, "/v2/shards", shard)).toEqual({ status: 200, body: { type: "result" } });
  expect(await db().xetFile.count({ where: { repoId: repo.id } })).toBe(1);
  expect((await postXet(access, "/v2/shards", randomBytes(200_000))).status).toBe(400);
});

describe("S145 the checked bytes are limited", () => {
  /** Each term claims four gigabytes. Only reading the data shows that the claim is wrong. */
  const terms = (xorb: TestTerm["xorb"], count: number): TestTerm[] =>
    Array.from({ length: count }, () => ({ xorb, bytes: 4e9 }));
  const shardOf = async (count: number) => {
    const xorb = await someXorb(someChunks(1));
    return someShard([{ terms: terms(xorb, count), hash: "ab".repeat(32), oid: "ab".repeat(32) }]);
  };
  beforeAll(() => provideSettings({ LFS_MAX_OBJECT_MB: "500000" }));
  afterAll(() => provideSettings({ LFS_MAX_OBJECT_MB: "50000" }));

  test("for each shard", async () => {
    const caller = await someCaller("manage-repos");
    const access = await writing(await someRepo(caller), caller);
    expect(await postXet(access, "/v1/shards", await shardOf(51))).toMatchObject({ status: 413 });
    expect(await postXet(access, "/v1/shards", await shardOf(40))).toMatchObject({ status: 400 });
  });

  test("for each account and hour", async () => {
    const caller = await someCaller("manage-repos");
    const access = await writing(await someRepo(caller), caller);
    const shard = await shardOf(49);
    for (let time = 0; time < 5; time++) expect((await postXet(access, "/v1/shards", shard)).status).toBe(400);
    expect((await postXet(access, "/v1/shards", shard)).status).toBe(429);
    expect((await postXet(await writing(await someRepo(ada)), "/v1/shards", shard)).status).toBe(400);
  });
});

describe("S145 a client that requests a check", () => {
  const checks = fairQueue({ name: "xet_file_checks", slots: 1 });

  test("ends the check when it disconnects, which records nothing and releases the slot", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb([Buffer.alloc(131_072, "tide")], "lz4");
    await putXorb(access, xorb);
    const shard = await someShard([{ terms: Array.from({ length: 3_000 }, () => ({ xorb })) }]);
    const { port, hostname, pathname } = new URL(access.casUrl);
    const headers = { authorization: `Bearer ${access.accessToken}`, "content-length": shard.length };
    const req = request({ port, hostname, path: `${pathname}/v1/shards`, method: "POST", headers });
    req.on("error", () => undefined);
    req.end(shard);
    await expect.poll(() => checks.counts.taken, { interval: 5 }).toBe(1);
    req.destroy();
    await expect.poll(() => checks.counts.taken, { interval: 5 }).toBe(0);
    expect(await db().xetFile.count({ where: { repoId: repo.id } })).toBe(0);
  });

  test("S135 must still have the right before anything is recorded", async () => {
    const repo = await someRepo(ada);
    const xorb = await someXorb(someChunks());
    await putXorb(await writing(repo), xorb);
    const mayStill = () => Promise.reject(new Error("not any more"));
    const shard = inOne(await someShard([{ terms: [{ xorb }] }]));
    await expect(registerShard(repo, shard, { ...staying, mayStill })).rejects.toThrow("not any more");
    expect(await db().xetFile.count({ where: { repoId: repo.id } })).toBe(0);
  });
});

describe("S145 a xorb", () => {
  const uploads = fairQueue({ name: "xet_xorbs", slots: 1 });
  const beginUpload = async (caller: Caller, repo: Repo, xorb: { hash: string; bytes: Buffer }) => {
    const access = await writing(repo, caller);
    const { port, hostname, pathname } = new URL(access.casUrl);
    const headers = { authorization: `Bearer ${access.accessToken}`, "content-length": xorb.bytes.length };
    const req = request({ port, hostname, path: `${pathname}/v1/xorbs/default/${xorb.hash}`, method: "POST", headers });
    req.on("error", () => undefined);
    req.write(xorb.bytes.subarray(0, 50_000));
    await expect.poll(() => uploads.counts.taken).toBe(1);
    return req;
  };

  test("takes a slot while it arrives, and S135 its sender's right is checked again at the end", async () => {
    const caller = await someCaller("manage-repos");
    const repo = await someRepo(caller);
    const xorb = await someXorb(someChunks(20));
    const req = await beginUpload(caller, repo, xorb);
    await db().personalAccessToken.updateMany({ where: { userId: caller.id }, data: { revokedAt: new Date() } });
    req.end(xorb.bytes.subarray(50_000));
    const [res] = await once(req, "response");
    expect(res.statusCode).toBe(401);
    expect(await db().xetXorb.count({ where: { repoId: repo.id } })).toBe(0);
    expect(await db().lfsLeftover.count()).toBe(0);
    res.resume();
    await expect.poll(() => uploads.counts.taken).toBe(0);
  });

  test("is accepted with 64 MiB of incompressible data and its headers", async () => {
    const repo = await someRepo(ada);
    const xorb = await someXorb(Array.from({ length: 512 }, () => randomBytes(131_072)));
    expect(xorb.bytes.length).toBeGreaterThan(64 * 1024 * 1024);
    expect((await putXorb(await writing(repo), xorb)).status).toBe(200);
  });

  test("leaves no row if it is refused", async () => {
    const access = await writing(await someRepo(ada));
    const xorb = await someXorb(someChunks());
    const before = await db().lfsLeftover.count();
    expect((await putXorb(access, { ...xorb, hash: "ab".repeat(32) })).status).toBe(400);
    expect(await db().lfsLeftover.count()).toBe(before);
  });
});

describe("S145 responses about a repository are bounded", () => {
  async function largeFile(
    repo: Repo,
    { xorbs, chunks, terms, ofTerm = 1 }: Record<"xorbs" | "chunks" | "terms", number> & { ofTerm?: number },
  ) {
    const hashes = Array.from({ length: xorbs }, () => randomBytes(32).toString("hex"));
    const entries = Buffer.concat(
      Array.from({ length: chunks }, (_, at) => {
        const ends = Buffer.alloc(8);
        ends.writeUInt32LE((at + 1) * 8_200, 0);
        ends.writeUInt32LE((at + 1) * 8_192, 4);
        return Buffer.concat([randomBytes(32), ends]);
      }),
    );
    const row = {
      ...{ repoId: repo.id, location: "local:nowhere", hasHeaders: true, startsAt: 0 },
      sizeBytes: 1,
      chunks: Uint8Array.from(entries),
      isNamed: true,
    };
    await db().xetXorb.createMany({ data: hashes.map((hash) => ({ ...row, hash })) });
    const described = Buffer.concat(
      Array.from({ length: terms }, (_, at) => entry(hashes[at % xorbs] as string, 0, 8_192 * ofTerm, 0, ofTerm)),
    );
    const hash = randomBytes(32).toString("hex");
    const file = {
      repoId: repo.id,
      hash,
      oid: hash,
      sizeBytes: terms * ofTerm * 8_192,
      recordBytes: 1,
      terms: Uint8Array.from(described),
    };
    await db().xetFile.create({ data: file });
    return { hash, xorbs: hashes };
  }

  test("contain at most 16,384 of the chunks around a chunk, and leave turns for other requests", async () => {
    const repo = await someRepo(ada);
    const { hash: fileHash, xorbs } = await largeFile(repo, { xorbs: 4, chunks: 8_000, terms: 4 });
    await db().xetChunk.create({ data: { repoId: repo.id, hash: "ab".repeat(32), xorbHash: xorbs[1] as string, fileHash } });
    let turns = 0;
    const ticking = setInterval(() => void turns++, 0);
    const shard = await findKnownXorbs(repo.id, "ab".repeat(32));
    clearInterval(ticking);
    expect(shard?.length).toBe(48 * (1 + 1 + 2 * 8_001 + 1) + 200);
    expect([1, 2, 3].filter((at) => shard?.includes(hashOfText(xorbs[at] as string)))).toHaveLength(2);
    expect(turns).toBeGreaterThan(5);
  });

  test("describe a file of 100,000 pieces only range by range", async () => {
    const repo = await someRepo(ada);
    const { hash } = await largeFile(repo, { xorbs: 2, chunks: 1, terms: 100_000 });
    const access = await writing(repo);
    expect((await getXet(access, `/v1/reconstructions/${hash}`)).status).toBe(413);
    const range = `bytes=${90_000 * 8_192 + 10}-${91_000 * 8_192 - 1}`;
    const part = (await (await getXet(access, `/v1/reconstructions/${hash}`, { range })).json()) as {
      offset_into_first_range: number;
      terms: unknown[];
    };
    expect(part.offset_into_first_range).toBe(10);
    expect(part.terms).toHaveLength(1_000);
  });

  test("refuse too many pieces before any of them is read", async () => {
    const repo = await someRepo(ada);
    const { hash, xorbs } = await largeFile(repo, { xorbs: 1, chunks: 1, terms: 8_193 });
    await db().xetXorb.deleteMany({ where: { repoId: repo.id, hash: { in: xorbs } } });
    const access = await writing(repo);
    expect((await getXet(access, `/v1/reconstructions/${hash}`)).status).toBe(413);
    expect((await getXet(access, `/v1/reconstructions/${hash}`, { range: "bytes=0-8191" })).status).toBe(410);
  });

  test("need only the ends of each piece, and each piece counts as the caller's work", async () => {
    const repo = await someRepo(ada);
    const { hash } = await largeFile(repo, { xorbs: 8, chunks: 8_000, terms: 8_000, ofTerm: 8_000 });
    const context: RequestContext = { requestId: "test" };
    const whole = await requestContext.run(context, () => reconstructFile(repo.id, hash, undefined));
    expect(whole).toMatchObject({ terms: { length: 8_000 } });
    expect([...(whole as Reconstruction).fetches.values()].flat()).toHaveLength(8);
    const before = context.workMs ?? 0;
    expect(before).toBeGreaterThan(0);
    const at = 3 * 8_000 * 8_192;
    const cut = await requestContext.run(context, () => reconstructFile(repo.id, hash, `bytes=${at - 8_193}-${at + 8_192}`));
    expect(cut).toMatchObject({
      offset: 8_191,
      terms: [
        { chunks: { start: 7_998, end: 8_000 }, bytes: 16_384 },
        { chunks: { start: 0, end: 2 }, bytes: 16_384 },
      ],
    });
    const [first] = [...(cut as Reconstruction).fetches.values()].flat();
    expect(first?.bytes).toEqual({ start: 7_998 * 8_200, end: 8_000 * 8_200 - 1 });
    expect(context.workMs).toBeGreaterThan(before);
  });
});

describe("S145 in the database", () => {
  test("rows of files and chunks count as stored bytes", async () => {
    const repo = await someRepo(ada);
    const xorb = await someXorb(someChunks());
    await uploadByXet(await writing(repo), { terms: [{ xorb }] });
    const { recordBytes } = await db().xetFile.findFirstOrThrow({ where: { repoId: repo.id } });
    expect(Number(recordBytes)).toBe(48 + 600 + 400 * (await db().xetChunk.count({ where: { repoId: repo.id } })));
  });

  test("waiting for the lock of an owner's storage ends in time", async () => {
    const owner = { kind: "user", id: ada.id, handle: ada.username } as const;
    const holder = await pool().connect();
    await holder.query("BEGIN");
    await holder.query("SELECT pg_advisory_xact_lock(hashtextextended('storage ' || $1, 0))", [ada.id]);
    const blocked = await holdStorage(owner, 1, "this file").catch((error: unknown) => error);
    await holder.query("ROLLBACK");
    holder.release();
    expect(isDatabaseDown(blocked)).toBe(true);
  });

  test("a deleted repository's rows are deleted later, in batches", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb(someChunks());
    const file = { terms: [{ xorb }] };
    await uploadByXet(access, file);
    await db().repo.delete({ where: { id: repo.id } });
    const where = { repoId: repo.id };
    const left = () =>
      Promise.all([db().xetXorb.count({ where }), db().xetFile.count({ where }), db().xetChunk.count({ where })]);
    expect(await left()).toEqual([1, 1, 1]);
    expect((await getXet(access, `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(404);
    await sweepLfsLeftovers(new AbortController().signal);
    expect(await left()).toEqual([0, 0, 0]);
    expect(await db().xetRemoval.count({ where })).toBe(0);
  });

  test("rows of empty files are deleted with their repository, even after a deletion of another repository failed", async () => {
    const [stuck, other] = [await someRepo(ada), await someRepo(ada)];
    for (const repo of [stuck, other]) {
      expect(await putShard(await writing(repo), [{ terms: [], hash: "0".repeat(64) }])).toMatchObject({ status: 200 });
    }
    await asOwner(`CREATE FUNCTION keep_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not now''; END';
      CREATE TRIGGER keep_it BEFORE DELETE ON xet_file FOR EACH ROW WHEN (OLD.repo_id = '${stuck.id}') EXECUTE FUNCTION keep_it()`);
    try {
      for (const { id } of [stuck, other]) await db().repo.delete({ where: { id } });
      await db().lfsLeftover.create({ data: { location: "local:old", createdAt: new Date(0) } });
      await sweepLfsLeftovers(new AbortController().signal);
      const left = await db().xetFile.findMany({ where: { repoId: { in: [stuck.id, other.id] } }, select: { repoId: true } });
      expect(left).toEqual([{ repoId: stuck.id }]);
      expect(await db().lfsLeftover.count({ where: { location: "local:old" } })).toBe(0);
    } finally {
      await asOwner("DROP FUNCTION keep_it CASCADE");
    }
    await sweepLfsLeftovers(new AbortController().signal);
    expect(await db().xetFile.count({ where: { repoId: stuck.id } })).toBe(0);
  });
});

test("a CI job reads public repositories by Xet, and writes only to its own", async () => {
  const [own, other] = [await someRepo(ada), await someRepo(ada)];
  const publisherId = randomBytes(8).toString("hex");
  const trusted = { preset: "oidc", issuer: "https://ci.example", claims: {}, createdById: ada.id };
  await db().trustedPublisher.create({ data: { id: publisherId, repoId: own.id, ...trusted } });
  const tried = (repo: Repo, right: "read" | "write") => signXetToken(repo, { right, revision: "main", holder: { publisherId } });
  const nothing = `/v1/reconstructions/${"ab".repeat(32)}`;
  expect((await getXet(tried(other, "read"), nothing)).status).toBe(404);
  const xorb = await someXorb(someChunks());
  expect((await putXorb(tried(other, "write"), xorb)).status).toBe(403);
  expect((await putXorb(tried(own, "write"), xorb)).status).toBe(200);
  await db().trustedPublisher.delete({ where: { id: publisherId } });
  expect((await getXet(tried(other, "read"), nothing)).status).toBe(401);
});
