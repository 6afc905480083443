import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { organizationOf } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { env, provideSettings } from "#core/env.ts";
import { LFS_LEFTOVER_HOURS, sweepLfsLeftovers, UNNAMED_XORB_DAYS } from "#core/hub/lfs/sweep-lfs-leftovers.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { hashChunk, hashText, isSampled } from "#core/hub/xet/hashes.ts";
import {
  contentOf,
  fileHashOf,
  footerOf,
  oidOf,
  packedChunk,
  someShard,
  someXorb,
  type TestFile,
  type TestXorb,
} from "#core/hub/xet/testing/xet-files.ts";
import { signXetToken } from "#core/hub/xet/xet-token.ts";
import { REPOSITORY_BYTES } from "#core/storage/limits.ts";
import { recountStorage } from "#core/storage/make-room.ts";
import { readStorageUsage } from "#core/storage/read-usage.ts";
import { type Caller, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { askBatch } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";
import {
  askXetToken,
  downloadByXet as download,
  type Fetch,
  getXet,
  postXet,
  putShard,
  putXorb,
  type Reconstruction,
  uploadByXet,
  type XetAccess,
  xetAccess,
} from "./testing/xet.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Caller;
let eve: Caller;
beforeAll(async () => {
  world = await startApiWorld();
  [ada, eve] = [await someCaller("manage-repos"), await someCaller("manage-repos")];
});
afterAll(() => world.stop());

const writing = (repo: Repo, { accessToken: token } = ada) => xetAccess(world.origin, repo, "write", { token });
const reading = (repo: Repo, { accessToken: token } = ada) => xetAccess(world.origin, repo, "read", { token });
const someChunks = (count = 3) => Array.from({ length: count }, (_, at) => randomBytes(8_192 + at * 1_000));

const stored = (): string[] =>
  readdirSync(join(env().DATA_DIR, "lfs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const lfsBytesOf = async ({ id }: Repo) => Number((await db().repo.findUniqueOrThrow({ where: { id } })).lfsBytes);

async function someFile(): Promise<TestFile> {
  const [one, two] = [
    await someXorb(someChunks(4), "lz4"),
    await someXorb([Buffer.from("tide ".repeat(9_000)), ...someChunks(2)], "bg4"),
  ];
  return { terms: [{ xorb: one, start: 1 }, { xorb: two }, { xorb: one, start: 0, end: 2 }] };
}

describe("a file", () => {
  test.each(["model", "dataset", "space"] as const)("of a %s is uploaded and downloaded by Xet", async (type) => {
    const repo = await someRepo(ada, { type, isPrivate: true });
    const access = await writing(repo);
    const file = await someFile();
    await uploadByXet(access, file);
    const hash = await fileHashOf(file);
    expect((await download(await reading(repo), hash)).equals(contentOf(file))).toBe(true);
    expect(await putXorb(access, file.terms[0]?.xorb as TestXorb)).toEqual({ status: 200, body: { was_inserted: false } });
    expect(await putShard(access, [file])).toMatchObject({ status: 200 });
  });

  test("is returned in parts: the needed chunks, and the position of the part in them", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const file = await someFile();
    await uploadByXet(access, file);
    const [hash, content] = [await fileHashOf(file), contentOf(file)];
    for (const [start, end] of [
      [0, 0],
      [0, 8_191],
      [9_000, 60_000],
      [content.length - 1, content.length - 1],
    ] as const) {
      expect((await download(access, hash, { start, end })).equals(content.subarray(start, end + 1))).toBe(true);
    }
    expect((await download(access, hash, { start: 20_000, end: 10 * content.length })).equals(content.subarray(20_000))).toBe(
      true,
    );
    const beyond = await getXet(access, `/v1/reconstructions/${hash}`, { range: `bytes=${content.length}-` });
    expect(beyond.status).toBe(416);
    const second = (await (await getXet(access, `/v2/reconstructions/${hash}`)).json()) as { xorbs: Record<string, unknown[]> };
    const first = (await (await getXet(access, `/v1/reconstructions/${hash}`)).json()) as Reconstruction;
    expect(Object.keys(second.xorbs)).toEqual(Object.keys(first.fetch_info));
    expect(Object.values(second.xorbs)[0]?.[0]).toMatchObject({
      url: expect.any(String),
      ranges: [{ chunks: { start: 1, end: 4 } }],
    });
  });

  test("can be used like a file of Git LFS: committed, resolved with ranges, listed and downloaded", async () => {
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "README.md": "# Tide\n" });
    const file = await someFile();
    await uploadByXet(await writing(repo), file);
    const [oid, content, hash] = [oidOf(file), contentOf(file), await fileHashOf(file)];
    const lines = ndjson(header(), { key: "lfsFile", value: { path: "tide.bin", algo: "sha256", oid, size: content.length } });
    const committed = await fetch(`${world.origin}/api/models/${repo.fullName}/commit/main`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.accessToken}`, "content-type": "application/x-ndjson" },
      body: lines,
    });
    expect(committed.status).toBe(200);
    const url = `${world.origin}/${repo.fullName}/resolve/main/tide.bin`;
    const head = await fetch(url, { method: "HEAD" });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      etag: `"${oid}"`,
      "x-linked-etag": `"${oid}"`,
      "x-linked-size": String(content.length),
      "x-xet-hash": hash,
      link: expect.stringMatching(
        /xet-read-token\/[0-9a-f]{40}>; rel="xet-auth", <.+\/v1\/reconstructions\/.+>; rel="xet-reconstruction-info"$/,
      ),
    });
    const whole = await fetch(url);
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await fetch(url, { headers: { range: "bytes=9000-39999" } });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 9000-39999/${content.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(9_000, 40_000))).toBe(true);
    expect((await fetch(url, { headers: { "if-none-match": `"${oid}"` } })).status).toBe(304);
    const info = await fetch(url, { headers: { accept: "application/vnd.xet-fileinfo+json, */*" } });
    expect(info.headers.get("content-type")).toBe("application/vnd.xet-fileinfo+json");
    const tree = await fetch(`${world.origin}/api/models/${repo.fullName}/tree/main`);
    expect(await tree.json()).toContainEqual(expect.objectContaining({ path: "tide.bin", xetHash: hash }));
    const batch = await askBatch(world.origin, repo, { operation: "download", objects: [{ oid, size: content.length }] }, ada);
    const object = await fetch(batch.objects[0]?.actions?.download?.href ?? "");
    expect(Buffer.from(await object.arrayBuffer()).equals(content)).toBe(true);
  });

  test("is found by Xet only when the chunks of its Git LFS upload are known", async () => {
    const repo = await someRepo(ada);
    const file = await someFile();
    const object = { oid: oidOf(file), size: contentOf(file).length };
    const [asked] = (await askBatch(world.origin, repo, { operation: "upload", objects: [object] }, ada)).objects;
    const put = await fetch(asked?.actions?.upload?.href ?? "", { method: "PUT", body: Uint8Array.from(contentOf(file)) });
    expect(put.status).toBe(200);
    expect((await getXet(await reading(repo), `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(404);
    await uploadByXet(await writing(repo), file);
    expect(await db().lfsObject.findMany({ where: { repoId: repo.id } })).toMatchObject([{ location: `local:${object.oid}` }]);
  });
});

test("clients that offer Xet in a batch request get a token, its renewal URL, and nothing for existing objects", async () => {
  const repo = await someRepo(ada);
  const file = await someFile();
  const object = { oid: oidOf(file), size: contentOf(file).length };
  const body = { operation: "upload", transfers: ["basic", "multipart", "xet"], objects: [object] };
  const answer = await askBatch(world.origin, repo, body, ada);
  expect(answer.transfer).toBe("xet");
  const { href = "", header: headers = {} } = answer.objects[0]?.actions?.upload ?? {};
  expect(Object.keys(headers)).toEqual(["X-Xet-Cas-Url", "X-Xet-Access-Token", "X-Xet-Token-Expiration"]);
  const renewed = await fetch(href, { headers: { authorization: `Bearer ${ada.accessToken}` } });
  const access = (await renewed.json()) as XetAccess;
  expect(access.casUrl).toBe(headers["X-Xet-Cas-Url"]);
  expect(renewed.headers.get("x-xet-access-token")).toBe(access.accessToken);
  await uploadByXet({ ...access, accessToken: headers["X-Xet-Access-Token"] ?? "" }, file);
  expect((await askBatch(world.origin, repo, body, ada)).objects).toEqual([{ ...object, authenticated: true }]);
  const others = await askBatch(world.origin, repo, { ...body, transfers: ["basic"] }, ada);
  expect(others.transfer).toBe("basic");
});

test("S145 if Xet is turned off, no response offers it, and its tokens are refused", async () => {
  const repo = await someRepo(ada);
  const access = await writing(repo);
  provideSettings({ XET: "0" });
  onTestFinished(() => void provideSettings({ XET: "1" }));
  expect((await askXetToken(world.origin, repo, "write", { token: ada.accessToken })).status).toBe(404);
  expect((await getXet(access, `/v1/reconstructions/${"0".repeat(64)}`)).status).toBe(404);
  const body = { operation: "upload", transfers: ["basic", "xet"], objects: [{ oid: "0".repeat(64), size: 1 }] };
  expect((await askBatch(world.origin, repo, body, ada)).transfer).toBe("basic");
});

describe("S145 a xorb is refused, and nothing of it is stored,", () => {
  const many = Array.from({ length: 8_193 }, () => Buffer.from("x"));
  test.each<[string, (xorb: TestXorb) => { hash?: string; bytes: Buffer } | Promise<{ hash?: string; bytes: Buffer }>]>([
    ["when it does not match its hash", ({ bytes }) => ({ hash: "ab".repeat(32), bytes })],
    [
      "when its chunks are in another order",
      async ({ chunks, hash }) => ({ hash, bytes: (await someXorb([...chunks].reverse())).bytes }),
    ],
    ["when a chunk is missing", async ({ chunks, hash }) => ({ hash, bytes: (await someXorb(chunks.slice(1))).bytes })],
    ["when it ends in the middle of a chunk", ({ bytes }) => ({ bytes: bytes.subarray(0, -1) })],
    ["when other bytes follow it", ({ bytes }) => ({ bytes: Buffer.concat([bytes, Buffer.from([0])]) })],
    ["when it is empty", () => ({ bytes: Buffer.alloc(0) })],
    ["when it is nonsense", () => ({ bytes: randomBytes(10_000) })],
    [
      "when a chunk does not have the stated size",
      ({ chunks }) => ({ bytes: packedChunk(chunks[0] as Buffer, "lz4", { bytes: 5 }) }),
    ],
    ["when a chunk is a bomb", () => ({ bytes: packedChunk(Buffer.alloc(50_000_000), "lz4", { bytes: 100_000 }) })],
    ["when it has very many chunks", async () => someXorb(many)],
    [
      "when its footer belongs to another xorb",
      async (xorb) => ({ bytes: Buffer.concat([xorb.bytes, footerOf(await someXorb(someChunks()))]) }),
    ],
    ["when its footer never ends", ({ bytes }) => ({ bytes: Buffer.concat([bytes, Buffer.alloc(2_000_000, "XETBLOB")]) })],
  ])("%s", async (_, spoil) => {
    const repo = await someRepo(ada);
    const before = stored();
    const xorb = await someXorb(someChunks());
    const { hash = xorb.hash, bytes } = await spoil(xorb);
    const answer = await putXorb(await writing(repo), { hash, bytes });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/\.$/) } });
    expect(stored()).toEqual(before);
    expect(await db().xetXorb.count({ where: { repoId: repo.id } })).toBe(0);
    expect(await lfsBytesOf(repo)).toBe(0);
  });

  test("when its URL has no hash, or its length is missing or too large", async () => {
    const access = await writing(await someRepo(ada));
    expect((await postXet(access, "/v1/xorbs/default/ABC", Buffer.from("x"))).status).toBe(400);
    const [{ port, hostname }, headers] = [new URL(access.casUrl), { authorization: `Bearer ${access.accessToken}` }];
    const path = `${new URL(access.casUrl).pathname}/v1/xorbs/default/${"a".repeat(64)}`;
    for (const [extra, status] of [
      [{ "transfer-encoding": "chunked" }, 400],
      [{ "content-length": 65 * 1024 * 1024 }, 413],
    ] as const) {
      const req = request({ port, hostname, path, method: "POST", headers: { ...headers, ...extra } });
      req.write("x");
      const [res] = await once(req, "response");
      expect(res.statusCode).toBe(status);
      req.destroy();
    }
  });
});

test("a xorb with the footer of older clients is stored without it", async () => {
  const access = await writing(await someRepo(ada));
  const xorb = await someXorb(someChunks());
  expect((await putXorb(access, { ...xorb, bytes: Buffer.concat([xorb.bytes, footerOf(xorb)]) })).status).toBe(200);
  const file = { terms: [{ xorb }] };
  expect((await putShard(access, [file])).status).toBe(200);
  expect((await download(access, await fileHashOf(file))).equals(contentOf(file))).toBe(true);
});

test("an interrupted upload leaves nothing, and succeeds when it is repeated", async () => {
  const repo = await someRepo(ada);
  const access = await writing(repo);
  const before = stored();
  const xorb = await someXorb(someChunks(20));
  const { port, hostname, pathname } = new URL(access.casUrl);
  const headers = { authorization: `Bearer ${access.accessToken}`, "content-length": xorb.bytes.length };
  const path = `${pathname}/v1/xorbs/default/${xorb.hash}`;
  const req = request({ port, hostname, path, method: "POST", headers });
  req.on("error", () => undefined);
  req.write(xorb.bytes.subarray(0, 100_000));
  await expect.poll(() => stored().length).toBe(before.length + 1);
  req.destroy();
  await expect.poll(stored).toEqual(before);
  expect(await putXorb(access, xorb)).toEqual({ status: 200, body: { was_inserted: true } });
  await expect.poll(() => db().storageHold.count({ where: { ownerId: ada.id, isRemoved: false } })).toBe(0);
});

describe("when the disk is full", () => {
  /** Makes each write to a file fail in Node as if the disk were full. */
  async function fillDisk(): Promise<void> {
    const file = await open(join(env().DATA_DIR, "full"), "w");
    const methods = Object.getPrototypeOf(file) as FileHandle;
    await file.close();
    const full = () => Promise.reject(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
    const spies = [vi.spyOn(methods, "write").mockImplementation(full), vi.spyOn(methods, "writeFile").mockImplementation(full)];
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore();
    });
  }

  test("a xorb and a shard are refused with a clear error, and nothing of them is stored", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const [xorb, other] = [await someXorb(someChunks()), await someXorb(someChunks())];
    expect((await putXorb(access, xorb)).status).toBe(200);
    const [before, bytes] = [stored(), await lfsBytesOf(repo)];
    await fillDisk();
    const refusal = { status: 503, body: { error: expect.stringContaining("no space left") } };
    expect(await putXorb(access, other)).toMatchObject(refusal);
    expect(await postXet(access, "/v1/shards", randomBytes(300_000))).toMatchObject(refusal);
    expect(stored()).toEqual(before);
    expect(await db().xetXorb.count({ where: { repoId: repo.id } })).toBe(1);
    expect(await lfsBytesOf(repo)).toBe(bytes);
    vi.restoreAllMocks();
    expect((await putXorb(access, other)).status).toBe(200);
  });
});

test("if one xorb is uploaded several times at once, it counts and is stored once", async () => {
  const repo = await someRepo(ada);
  const access = await writing(repo);
  const before = stored();
  const xorb = await someXorb(someChunks(20));
  const answers = await Promise.all(Array.from({ length: 5 }, () => putXorb(access, xorb)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(answers.filter(({ body }) => body.was_inserted)).toHaveLength(1);
  expect(stored()).toHaveLength(before.length + 1);
  const row = await db().xetXorb.findFirstOrThrow({ where: { repoId: repo.id } });
  expect(await lfsBytesOf(repo)).toBe(Number(row.sizeBytes));
});

describe("S145 a shard is refused, and none of its files is recorded,", () => {
  function withStartOfSecondChunk(shard: Buffer, start: number): Buffer {
    shard.writeUInt32LE(start, 48 * 4 + 32);
    return shard;
  }

  const farBeyond = (xorb: TestXorb, start: number): TestFile => ({
    terms: [{ xorb, start, end: start + 1, bytes: 8_192 }],
    hash: "ab".repeat(32),
  });

  type Made = { xorb: TestXorb; other: TestXorb; foreign: TestXorb };
  type Described = [files: TestFile[], xorbs?: TestXorb[]];
  test.each<[string, (made: Made) => Described | Buffer | Promise<Buffer>]>([
    ["when it names a xorb that was never uploaded", ({ other }) => [[{ terms: [{ xorb: other }] }]]],
    ["when it names a xorb of another repository of the same owner", ({ foreign }) => [[{ terms: [{ xorb: foreign }] }]]],
    ["when it lists a xorb of another repository", ({ xorb, foreign }) => [[{ terms: [{ xorb }] }], [foreign]]],
    ["when it lists other chunks of a xorb", ({ xorb, other }) => [[], [{ ...xorb, chunks: other.chunks }]]],
    ["when it lists fewer chunks of a xorb", ({ xorb }) => [[], [{ ...xorb, chunks: xorb.chunks.slice(1) }]]],
    [
      "when a file has chunks that the xorb does not have",
      ({ xorb }) => [[{ terms: [{ xorb, end: 4 }], hash: "ab".repeat(32) }]],
    ],
    ["when a file has no chunks of a xorb", ({ xorb }) => [[{ terms: [{ xorb, start: 2, end: 2 }] }]]],
    ["when a file's chunks go backwards", ({ xorb }) => [[{ terms: [{ xorb, start: 2, end: 1 }] }]]],
    ["when a file's chunks are far beyond any xorb", ({ xorb }) => [[farBeyond(xorb, 100_000_000)]]],
    ["when a file's chunks are beyond the database's integers", ({ xorb }) => [[farBeyond(xorb, 2 ** 32 - 2)]]],
    ["when a file's hash is wrong", ({ xorb }) => [[{ terms: [{ xorb }], hash: "ab".repeat(32) }]]],
    ["when a piece has another size", ({ xorb }) => [[{ terms: [{ xorb, bytes: 7 }] }]]],
    ["when a verification hash is wrong", ({ xorb }) => [[{ terms: [{ xorb, rangeHash: randomBytes(32) }] }]]],
    ["when there are no verification hashes", ({ xorb }) => [[{ terms: [{ xorb }], isWithoutRanges: true }]]],
    ["when a file's SHA-256 is that of other content", ({ xorb }) => [[{ terms: [{ xorb }], oid: "ab".repeat(32) }]]],
    ["when there is no SHA-256", ({ xorb }) => [[{ terms: [{ xorb }], isWithoutSha256: true }]]],
    [
      "when the second of its files is wrong",
      ({ xorb }) => [[{ terms: [{ xorb }] }, { terms: [{ xorb, end: 1 }], oid: "ab".repeat(32) }]],
    ],
    ["when a xorb's chunks overlap", async ({ xorb }) => withStartOfSecondChunk(await someShard([], [xorb]), 100)],
    [
      "when there is a gap between a xorb's chunks",
      async ({ xorb }) => withStartOfSecondChunk(await someShard([], [xorb]), 8_193),
    ],
    ["when it is cut off", async ({ xorb }) => (await someShard([{ terms: [{ xorb }] }])).subarray(0, -49)],
    [
      "when data follows its end",
      async ({ xorb }) => Buffer.concat([await someShard([{ terms: [{ xorb }] }]), Buffer.alloc(48)]),
    ],
    ["when it is nonsense", () => randomBytes(4_800)],
    ["when it is empty", () => Buffer.alloc(0)],
  ])("%s", async (_, describeFiles) => {
    const [repo, elsewhere] = [await someRepo(ada), await someRepo(ada)];
    const access = await writing(repo);
    const [xorb, other, foreign] = [await someXorb(someChunks()), await someXorb(someChunks()), await someXorb(someChunks())];
    await putXorb(access, xorb);
    await uploadByXet(await writing(elsewhere), { terms: [{ xorb: foreign }] });
    const described = await describeFiles({ xorb, other, foreign });
    const answer = await postXet(access, "/v1/shards", Buffer.isBuffer(described) ? described : await someShard(...described));
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/\.$/) } });
    expect(await db().xetFile.count({ where: { repoId: repo.id } })).toBe(0);
    expect(await db().lfsObject.count({ where: { repoId: repo.id } })).toBe(0);
    expect(await db().xetXorb.findMany({ where: { repoId: repo.id } })).toMatchObject([{ isNamed: false }]);
  });

  test("when a file is larger than files may be", async () => {
    const access = await writing(await someRepo(ada));
    const xorb = await someXorb([Buffer.alloc(131_072, "tide")], "lz4");
    await putXorb(access, xorb);
    provideSettings({ LFS_MAX_OBJECT_MB: "1" });
    const answer = await putShard(access, [{ terms: Array.from({ length: 8 }, () => ({ xorb })) }]);
    provideSettings({ LFS_MAX_OBJECT_MB: "50000" });
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining("at most 1 MB") } });
  });

  test("when it names another user's xorb, with the same error as for a missing one", async () => {
    const [theirs, ours] = [await someRepo(eve, { isPrivate: true }), await someRepo(ada)];
    const secret = await someXorb(someChunks());
    await uploadByXet(await writing(theirs, eve), { terms: [{ xorb: secret }] });
    const access = await writing(ours);
    const named = async (xorb: TestXorb) => (await putShard(access, [{ terms: [{ xorb }] }])).body;
    expect(await named(secret)).toEqual(await named(await someXorb(someChunks())));
    expect(await putXorb(access, secret)).toEqual({ status: 200, body: { was_inserted: true } });
  });
});

describe("S145 clients learn where a chunk already is", () => {
  test("in the repository of their token, and nowhere else", async () => {
    const [repo, elsewhere] = [await someRepo(ada), await someRepo(ada)];
    const file = await someFile();
    const [first] = contentOf(file).length > 0 ? file.terms : [];
    const asked = hashText(hashChunk(first?.xorb.chunks[1] as Buffer));
    await uploadByXet(await writing(repo), file);
    const access = await writing(repo);
    for (const prefix of ["default", "default-merkledb"]) {
      const found = await getXet(access, `/v1/chunks/${prefix}/${asked}`);
      expect(found.status).toBe(200);
      const shard = Buffer.from(await found.arrayBuffer());
      // The shard contains keyed hashes of the chunk hashes.
      for (const { xorb } of file.terms) {
        for (const chunk of xorb.chunks) expect(shard.includes(hashChunk(chunk))).toBe(false);
      }
    }
    const nowhere = await getXet(access, `/v1/chunks/default/${"ab".repeat(32)}`);
    const other = await getXet(await writing(elsewhere), `/v1/chunks/default/${asked}`);
    expect([nowhere.status, other.status]).toEqual([404, 404]);
    expect(await other.json()).toEqual(await nowhere.json());
    const notSampled = first?.xorb.chunks.slice(2).find((chunk) => !isSampled(hashChunk(chunk))) as Buffer;
    expect((await getXet(access, `/v1/chunks/default/${hashText(hashChunk(notSampled))}`)).status).toBe(404);
    expect((await getXet(access, "/v1/chunks/default/xyz")).status).toBe(400);
  });
});

describe("S145 a token", () => {
  test("requires permission to read, or to write", async () => {
    const [open, hidden] = [await someRepo(ada), await someRepo(ada, { isPrivate: true })];
    const status = async (...asked: Parameters<typeof askXetToken>) => (await askXetToken(...asked)).status;
    expect(await status(world.origin, open, "read")).toBe(200);
    expect(await status(world.origin, open, "write")).toBe(401);
    expect(await status(world.origin, open, "write", { token: eve.accessToken })).toBe(403);
    expect(await status(world.origin, hidden, "read")).toBe(404);
    for (const right of ["read", "write"] as const) {
      expect(await status(world.origin, hidden, right, { token: eve.accessToken })).toBe(404);
      expect(await status(world.origin, hidden, right, { token: ada.accessToken, revision: "nothing" })).toBe(404);
    }
    const { accessToken } = await someCaller("read-repos");
    expect(await status(world.origin, open, "write", { token: accessToken })).toBe(403);
    expect(await status(world.origin, hidden, "write", { token: ada.accessToken, revision: "None", query: "?create_pr=1" })).toBe(
      200,
    );
  });

  test("is invalid for another repository, for another right, after its expiry, or if changed", async () => {
    const [repo, other] = [await someRepo(ada), await someRepo(ada)];
    const [access, theirs, read] = [await writing(repo), await writing(other), await reading(repo)];
    const xorb = await someXorb(someChunks());
    const tried = async (accessToken: string) => (await putXorb({ ...access, accessToken }, xorb)).status;
    expect(await tried(theirs.accessToken)).toBe(403);
    expect(await tried(read.accessToken)).toBe(403);
    const old = signXetToken(
      repo,
      { right: "write", revision: "main", holder: { userId: ada.id, delegationId: null } },
      Date.now() - 16 * 60_000,
    );
    for (const token of [old.accessToken, "", ada.accessToken, `${access.accessToken}x`, access.accessToken.replace(".", "A.")]) {
      expect(await tried(token)).toBe(401);
    }
    expect(await db().xetXorb.count({ where: { repoId: repo.id } })).toBe(0);
    const file = { terms: [{ xorb }] };
    await uploadByXet(access, file);
    for (const hash of [await fileHashOf(file), "a".repeat(64)]) {
      expect((await getXet({ ...access, accessToken: theirs.accessToken }, `/v1/reconstructions/${hash}`)).status).toBe(403);
      expect(await (await getXet(theirs, `/v1/reconstructions/${hash}`)).json()).toMatchObject({ error: "Entry not found" });
    }
  });

  test("S135 is invalid once the token with which it was requested is revoked", async () => {
    const caller = await someCaller("manage-repos");
    const repo = await someRepo(caller);
    const access = await writing(repo, caller);
    const file = await someFile();
    await uploadByXet(access, file);
    await db().personalAccessToken.updateMany({ where: { userId: caller.id }, data: { revokedAt: new Date() } });
    expect((await putXorb(access, await someXorb(someChunks()))).status).toBe(401);
    expect((await putShard(access, [file])).status).toBe(401);
    expect((await getXet(access, `/v1/reconstructions/${await fileHashOf(file)}`)).status).toBe(401);
  });

  test("S135 is invalid once its holder may no longer write", async () => {
    const member = await someCaller("manage-repos");
    const org = await organizationOf(ada, [[member, "write"]]);
    const repo = await someRepo(ada, { owner: org.name, isPrivate: true });
    const access = await writing(repo, member);
    const xorb = await someXorb(someChunks());
    expect((await putXorb(access, xorb)).status).toBe(200);
    await db().membership.updateMany({ where: { userId: member.id }, data: { role: "read" } });
    expect((await putShard(access, [{ terms: [{ xorb }] }])).status).toBe(403);
    await db().membership.deleteMany({ where: { userId: member.id } });
    expect((await putXorb(access, await someXorb(someChunks()))).status).toBe(404);
  });

  test("does not write to a read-only repository", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb(someChunks());
    await db().repo.update({ where: { id: repo.id }, data: { isReadOnly: true } });
    expect((await putXorb(access, xorb)).status).toBe(403);
    expect((await askXetToken(world.origin, repo, "write", { token: ada.accessToken })).status).toBe(403);
    await db().repo.delete({ where: { id: repo.id } });
    expect((await putXorb(access, xorb)).status).toBe(404);
  });
});

test("S145 a URL of a xorb's bytes is valid only for these bytes, and its expiry cannot be changed", async () => {
  const repo = await someRepo(ada, { isPrivate: true });
  const access = await writing(repo);
  const file = await someFile();
  await uploadByXet(access, file);
  const found = (await (await getXet(access, `/v1/reconstructions/${await fileHashOf(file)}`)).json()) as Reconstruction;
  const [{ url, url_range: range }] = Object.values(found.fetch_info)[0] as [Fetch];
  const status = async (address: string, header?: string) =>
    (await fetch(address, { headers: header === undefined ? {} : { range: header } })).status;
  const right = `bytes=${range.start}-${range.end}`;
  expect(await status(url, right)).toBe(206);
  for (const header of [undefined, `bytes=0-${range.end}`, `bytes=${range.start}-${range.end + 1}`, "bytes=0-"]) {
    expect(await status(url, header)).toBe(403);
  }
  const changed = (name: string, value: string) => {
    const other = new URL(url);
    other.searchParams.set(name, value);
    return other.href;
  };
  expect(await status(changed("bytes", `0-${range.end}`), `bytes=0-${range.end}`)).toBe(403);
  expect(await status(changed("expires", "99999999999"), right)).toBe(403);
  expect(await status(changed("signature", ""), right)).toBe(403);
  const elsewhere = await someRepo(ada);
  expect(await status(url.replace(repo.id, elsewhere.id), right)).toBe(403);
});

describe("what is stored", () => {
  const usageOf = ({ id, username }: Caller) => readStorageUsage(operatorCommand, { kind: "user", id, handle: username });

  test("counts once, however many files use it, and the usage also states the size of these files", async () => {
    const caller = await someCaller("manage-repos");
    const repo = await someRepo(caller);
    const access = await writing(repo, caller);
    const xorb = await someXorb(someChunks(4));
    const files: TestFile[] = [0, 1, 2].map((start) => ({ terms: [{ xorb }, { xorb, start }] }));
    await putXorb(access, xorb);
    expect((await putShard(access, files, [xorb])).status).toBe(200);
    const used = await usageOf(caller);
    expect(used.files.logicalBytes).toBe(files.reduce((sum, file) => sum + contentOf(file).length, 0));
    expect(used.bytes.lfs).toBeGreaterThan(xorb.bytes.length);
    expect(used.bytes.lfs).toBeLessThan(xorb.bytes.length + 7_000);
    expect(await recountStorage()).toBe(0);
    await db().repo.delete({ where: { id: repo.id } });
    expect((await usageOf(caller)).bytes.lfs).toBe(0);
  });

  test("is refused if there is no storage left", async () => {
    const caller = await someCaller("manage-repos");
    const repo = await someRepo(caller);
    const access = await writing(repo, caller);
    const xorb = await someXorb(someChunks(4));
    await db().storageQuota.create({ data: { ownerId: caller.id, bytes: REPOSITORY_BYTES + xorb.bytes.length + 10 } });
    const before = stored();
    expect(await putXorb(access, xorb)).toMatchObject({ status: 507, body: { code: "storage_full" } });
    expect(stored()).toEqual(before);
    await db().storageQuota.update({
      where: { ownerId: caller.id },
      data: { bytes: REPOSITORY_BYTES + xorb.bytes.length + 1_000 },
    });
    expect((await putXorb(access, xorb)).status).toBe(200);
    expect((await putShard(access, [{ terms: [{ xorb }] }])).status).toBe(507);
    expect(await db().xetFile.count({ where: { repoId: repo.id } })).toBe(0);
  });

  test("stays while a file uses it, and an unused xorb is deleted after a month", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const [named, unnamed] = [await someXorb(someChunks()), await someXorb(someChunks())];
    await uploadByXet(access, { terms: [{ xorb: named }] });
    await putXorb(access, unnamed);
    const later = (days: number, hours = 0) => new Date(Date.now() + days * 86_400_000 + hours * 3_600_000);
    const sweep = (now: Date) => sweepLfsLeftovers(new AbortController().signal, now);
    const isThere = ({ hash }: TestXorb) => stored().some((name) => name.startsWith(hash));
    await sweep(later(UNNAMED_XORB_DAYS - 1));
    expect(isThere(unnamed)).toBe(true);
    await sweep(later(UNNAMED_XORB_DAYS + 1));
    expect((await db().xetXorb.findMany({ where: { repoId: repo.id } })).map(({ hash }) => hash)).toEqual([named.hash]);
    await sweep(later(UNNAMED_XORB_DAYS + 1, LFS_LEFTOVER_HOURS + 1));
    expect([isThere(named), isThere(unnamed)]).toEqual([true, false]);
    await db().repo.delete({ where: { id: repo.id } });
    await sweep(later(0));
    expect(isThere(named)).toBe(true);
    await sweep(later(0, LFS_LEFTOVER_HOURS + 1));
    expect(isThere(named)).toBe(false);
  });

  test("is reported as gone, not as a server error, if its file is lost on disk", async () => {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const xorb = await someXorb(someChunks());
    await putXorb(access, xorb);
    await db().xetXorb.updateMany({ where: { repoId: repo.id }, data: { location: "local:nowhere" } });
    expect((await putShard(access, [{ terms: [{ xorb }] }])).status).toBe(410);
  });
});

test("a bucket stores the xorbs, and clients get URLs of only the bytes that they need", async () => {
  const bucket = await startBucket();
  try {
    const repo = await someRepo(ada);
    const access = await writing(repo);
    const wrong = await someXorb(someChunks());
    expect((await putXorb(access, { hash: "ab".repeat(32), bytes: wrong.bytes })).status).toBe(400);
    const file = await someFile();
    await uploadByXet(access, file);
    const hash = await fileHashOf(file);
    expect((await download(access, hash)).equals(contentOf(file))).toBe(true);
    expect((await download(access, hash, { start: 9_000, end: 50_000 })).equals(contentOf(file).subarray(9_000, 50_001))).toBe(
      true,
    );
    const found = (await (await getXet(access, `/v1/reconstructions/${hash}`)).json()) as Reconstruction;
    const [{ url, url_range: range }] = Object.values(found.fetch_info)[0] as [Fetch];
    expect(url.startsWith(bucket.origin)).toBe(true);
    expect((await fetch(url, { headers: { range: `bytes=${range.start}-${range.end + 1}` } })).status).toBe(403);
    const batch = await askBatch(
      world.origin,
      repo,
      { operation: "download", objects: [{ oid: oidOf(file), size: contentOf(file).length }] },
      ada,
    );
    const object = await fetch(batch.objects[0]?.actions?.download?.href ?? "");
    expect(Buffer.from(await object.arrayBuffer()).equals(contentOf(file))).toBe(true);
  } finally {
    await bucket.stop();
    provideSettings({ LFS_STORAGE: "local" });
  }
});
