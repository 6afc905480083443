import { setTimeout as sleep } from "node:timers/promises";
import { downloadFile, uploadFile } from "@huggingface/hub";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { organizationOf } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { fairQueue } from "#core/fair-queue/fair-queue.ts";
import { findLfsObject } from "#core/hub/lfs/objects/find-lfs-object.ts";
import { lfsDownloadUrl, openLfsObject } from "#core/hub/lfs/objects/open-lfs-object.ts";
import { s3Direct } from "#core/hub/lfs/storage/s3-direct.ts";
import { startBucket, type TestBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { actionsFor, type BatchAction, type BatchObject, somebodyWithToken, someObject, type TestObject } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let bucket: TestBucket;
let ada: Awaited<ReturnType<typeof somebodyWithToken>>;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_", XET: "0" });
  world = await startApiWorld();
  bucket = await startBucket();
  ada = await somebodyWithToken("write-repos");
});
afterAll(async () => {
  await bucket.stop();
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_", XET: "1" });
});

type Repo = Awaited<ReturnType<typeof someRepo>>;

async function ask(
  repo: Repo,
  operation: "upload" | "download",
  object: TestObject,
  transfers = ["basic"],
  { accessToken } = ada,
): Promise<BatchObject> {
  const [answer] = await actionsFor(world.origin, repo, operation, [object], { accessToken, transfers });
  return answer as BatchObject;
}

const put = ({ href, header = {} }: BatchAction, content: Buffer) =>
  fetch(href, { method: "PUT", body: Uint8Array.from(content), headers: header });

const say = (action: BatchAction | undefined, body: unknown, signal: AbortSignal | null = null) =>
  fetch(action?.href ?? "", {
    signal,
    method: "POST",
    headers: { "content-type": "application/vnd.git-lfs+json" },
    body: JSON.stringify(body),
  });

function altered(content: Buffer): Buffer {
  const other = Buffer.from(content);
  other.writeUInt8(other.readUInt8(0) ^ 1, 0);
  return other;
}

async function contentOf(repo: Repo, object: TestObject, range?: { start: number; end: number }): Promise<Buffer> {
  const stream = await openLfsObject(repo, object, range && { range });
  return Buffer.concat(await stream.toArray());
}

test("S137 announced uploads without bytes store nothing unless the oid is that of an empty file", async () => {
  const repo = await someRepo(ada, { isPrivate: true });
  const announced = Array.from({ length: 5 }, () => ({ ...someObject(), size: 0 }));
  const before = await db().lfsLeftover.count();
  const answers = await actionsFor(world.origin, repo, "upload", announced, ada);
  expect(answers.map(({ error }) => error?.code)).toEqual(announced.map(() => 422));
  expect(await db().lfsLeftover.count()).toBe(before);
  const { actions } = await ask(repo, "upload", someObject(""));
  expect(actions?.upload).toBeDefined();
});

test("S137 requests for the URLs of more than 100 files take turns, and smaller requests do not wait", async () => {
  const repo = await someRepo(ada);
  const objects = Array.from({ length: 101 }, () => someObject());
  const turns = fairQueue({ name: "lfs_downloads", slots: 1 });
  const release = turns.tryTake({ party: { key: "another", isAnonymous: false } });
  onTestFinished(() => release?.());
  const many = actionsFor(world.origin, repo, "download", objects);
  await vi.waitFor(() => expect(turns.counts.waiting).toBe(1));
  expect(await actionsFor(world.origin, repo, "download", objects.slice(0, 100))).toHaveLength(100);
  release?.();
  expect(await many).toHaveLength(101);
});

test("a file is uploaded to and downloaded from the bucket directly, and counts once it has been verified", async () => {
  const repo = await someRepo(ada, { isPrivate: true });
  const object = someObject();
  const { actions, authenticated } = await ask(repo, "upload", object);
  expect(authenticated).toBe(true);
  expect(actions?.upload?.href).toMatch(new RegExp(`^${bucket.origin}/large-files/repositories/${repo.id}/`));
  const checksum = Buffer.from(object.oid, "hex").toString("base64");
  expect(actions?.upload?.header).toEqual({ "x-amz-checksum-sha256": checksum });
  expect((await put(actions?.upload as BatchAction, object.content)).status).toBe(200);
  expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
  expect((await say(actions?.verify, { oid: object.oid, size: object.size })).status).toBe(200);
  expect(await findLfsObject(repo.id, object.oid)).toBeDefined();
  const { href = "" } = (await ask(repo, "download", object)).actions?.download ?? {};
  expect(href).toMatch(new RegExp(`^${bucket.origin}/`));
  const response = await fetch(href);
  expect(Buffer.from(await response.arrayBuffer()).equals(object.content)).toBe(true);
  expect(response.headers.get("content-disposition")).toBe("attachment");
  expect((await contentOf(repo, object, { start: 10, end: 19 })).equals(object.content.subarray(10, 20))).toBe(true);
  expect(
    (await fetch((await lfsDownloadUrl(repo, object, { fileName: "tide ü.bin" })) as string)).headers.get("content-disposition"),
  ).toBe("attachment; filename*=UTF-8''tide%20%C3%BC.bin");
});

describe("an upload to the bucket", () => {
  test("has a URL that is valid for a day, for one object and one operation", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const upload = (await ask(repo, "upload", object)).actions?.upload as BatchAction;
    expect((await fetch(upload.href, { headers: upload.header ?? {} })).status).toBe(403);
    expect((await put({ ...upload, href: upload.href.replace(object.oid, someObject().oid) }, object.content)).status).toBe(403);
    expect(new URL(upload.href).searchParams.get("X-Amz-Expires")).toBe("86400");
    expect((await put(upload, object.content)).status).toBe(200);
  });

  test("must contain the checksum that the bucket checks", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const upload = (await ask(repo, "upload", object)).actions?.upload as BatchAction;
    expect((await fetch(upload.href, { method: "PUT", body: Uint8Array.from(object.content) })).status).toBe(403);
    const other = { "x-amz-checksum-sha256": Buffer.from(someObject().oid, "hex").toString("base64") };
    expect((await put({ ...upload, header: other }, object.content)).status).toBe(403);
  });

  test("is removed and does not count if its content is not the announced content", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const { actions } = await ask(repo, "upload", object);
    expect((await put(actions?.upload as BatchAction, altered(object.content))).status).toBe(200);
    expect((await say(actions?.verify, { oid: object.oid, size: object.size })).status).toBe(400);
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect((await say(actions?.verify, { oid: object.oid, size: object.size })).status).toBe(404);
    expect((await say(actions?.verify, { oid: object.oid, size: 1 })).status).toBe(400);
  });

  test("S137 leaves no record if it is verified before any bytes have arrived, and removes nothing", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const { actions } = await ask(repo, "upload", object);
    const leftovers = await db().lfsLeftover.count();
    bucket.asked.length = 0;
    for (let times = 0; times < 3; times++) {
      expect((await say(actions?.verify, { oid: object.oid, size: object.size })).status).toBe(404);
    }
    expect(await db().lfsLeftover.count()).toBe(leftovers);
    expect(bucket.asked.map((line) => line.split(" ")[0])).toEqual(["HEAD", "HEAD", "HEAD"]);
  });

  test("S137 holds few connections to the database while the bucket removes its refused content", async () => {
    const repo = await someRepo(ada);
    const objects = Array.from({ length: 8 }, () => someObject());
    const all = await Promise.all(objects.map((object) => ask(repo, "upload", object)));
    await Promise.all(all.map(({ actions }, at) => put(actions?.upload as BatchAction, altered(objects[at]?.content as Buffer))));
    let [removing, most] = [0, 0];
    bucket.intercept((req, res) => {
      if (req.method !== "DELETE") return false;
      most = Math.max(most, ++removing);
      setTimeout(() => {
        removing--;
        res.writeHead(204).end();
      }, 100);
      return true;
    });
    const said = await Promise.all(all.map(({ actions, oid, size }) => say(actions?.verify, { oid, size })));
    bucket.intercept(undefined);
    expect(said.map(({ status }) => status)).toEqual(objects.map(() => 400));
    expect(most).toBeLessThanOrEqual(2);
  });

  test("cannot change the verified content, although its URL still works", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const { actions } = await ask(repo, "upload", object);
    await put(actions?.upload as BatchAction, object.content);
    await say(actions?.verify, { oid: object.oid, size: object.size });
    expect((await put(actions?.upload as BatchAction, altered(object.content))).status).toBe(200);
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
  });

  test("S137 takes only the reserved bytes, however often its URL is requested", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const first = (await ask(repo, "upload", object)).actions?.upload as BatchAction;
    for (const content of [object.content.subarray(1), Buffer.concat([object.content, Buffer.alloc(1)])]) {
      expect((await put(first, content)).status).toBe(403);
    }
    const again = (await ask(repo, "upload", object)).actions?.upload as BatchAction;
    expect(new URL(again.href).pathname).toBe(new URL(first.href).pathname);
    const larger = { ...object, size: object.size + 1 };
    const other = (await ask(repo, "upload", larger)).actions?.upload as BatchAction;
    expect(new URL(other.href).pathname).not.toBe(new URL(first.href).pathname);
  });

  test("is not read by the service if the bucket guarantees its hash", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const { actions } = await ask(repo, "upload", object);
    const upload = actions?.upload as BatchAction;
    await put(upload, object.content);
    bucket.intercept((req, res) => {
      if (req.method !== "HEAD") return false;
      const checksum =
        req.headers["x-amz-checksum-mode"] === "ENABLED" ? (upload.header?.["x-amz-checksum-sha256"] as string) : "";
      res.writeHead(200, { "content-length": object.size, etag: '"e"', "x-amz-checksum-sha256": checksum }).end();
      return true;
    });
    bucket.asked.length = 0;
    expect((await say(actions?.verify, { oid: object.oid, size: object.size })).status).toBe(200);
    bucket.intercept(undefined);
    expect(bucket.asked.map((line) => line.split(" ")[0])).toEqual(["HEAD"]);
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
  });
});

describe("an upload in parts, as the public hub's clients send it", () => {
  const MIB = 1024 * 1024;
  const multipart = ["basic", "multipart"];

  async function putParts({ header = {} }: BatchAction, content: Buffer) {
    const chunk = Number(header.chunk_size);
    const numbers = Object.keys(header).filter((name) => /^\d+$/.test(name));
    expect(numbers).toHaveLength(Math.ceil(content.length / chunk));
    return Promise.all(
      numbers.map(async (number, at) => {
        const body = Uint8Array.from(content.subarray(at * chunk, (at + 1) * chunk));
        const response = await fetch(header[number] as string, { method: "PUT", body });
        return { partNumber: Number(number), etag: response.headers.get("etag") ?? "" };
      }),
    );
  }

  test.each([0, 2_000])("is joined and verified: %d bytes", async (size) => {
    const repo = await someRepo(ada);
    const object = someObject(size);
    const upload = (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const parts = await putParts(upload, object.content);
    const completion = { oid: object.oid, parts };
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect((await say(upload, completion)).status).toBe(200);
    expect(await findLfsObject(repo.id, object.oid)).toBeDefined();
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
    expect(await db().storageHold.count({ where: { id: { contains: repo.id } } })).toBe(0);
    expect((await say(upload, completion)).status).toBe(200);
  });

  test("S137 takes only the reserved bytes, and continues at the same URLs after another request", async () => {
    const repo = await someRepo(ada);
    const object = someObject(33 * MIB);
    const asking = async () => (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const uploads = await Promise.all([asking(), asking(), asking()]);
    const addressesOf = ({ header = {} }: BatchAction) =>
      ["00001", "00002"]
        .map((number) => new URL(header[number] as string))
        .map(({ pathname, searchParams }) => [pathname, searchParams.get("uploadId")].join(" "));
    for (const upload of uploads) expect(addressesOf(upload)).toEqual(addressesOf(uploads[0] as BatchAction));
    const [last = ""] = Object.entries((await asking()).header ?? {}).flatMap(([name, href]) => (name === "00002" ? [href] : []));
    expect((await put({ href: last, expires_in: 1 }, object.content.subarray(0, MIB + 1))).status).toBe(403);
    const completion = { oid: object.oid, parts: await putParts(await asking(), object.content) };
    expect(completion.parts).toHaveLength(2);
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect((await say(uploads[0], completion)).status).toBe(200);
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
    expect(await db().storageHold.count({ where: { id: { contains: repo.id } } })).toBe(0);
  });

  test("S137 is read for verification only once, however often the client reports its end", async () => {
    const repo = await someRepo(ada);
    const object = someObject(2 * MIB);
    const upload = (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const completion = { oid: object.oid, parts: await putParts(upload, object.content) };
    bucket.asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => say(upload, completion)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(bucket.asked.filter((line) => line.startsWith("GET "))).toHaveLength(1);
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
  });

  test("S137 is verified to the end even if the first client disconnects, because other clients may wait", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const upload = (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const completion = { oid: object.oid, parts: await putParts(upload, object.content) };
    const verifications = fairQueue({ name: "lfs_verifications", slots: 8 });
    const places = Array.from({ length: 8 }, (_, at) => verifications.tryTake({ party: { key: `${at}`, isAnonymous: false } }));
    const serve = () => places.forEach((release) => void release?.());
    onTestFinished(serve);
    const client = new AbortController();
    const first = say(upload, completion, client.signal);
    await vi.waitFor(() => expect(verifications.counts.waiting).toBe(1));
    const second = say(upload, completion);
    client.abort();
    await expect(first).rejects.toThrow("aborted");
    await sleep(100);
    expect(verifications.counts.waiting).toBe(1);
    serve();
    expect((await second).status).toBe(200);
    expect(await findLfsObject(repo.id, object.oid)).toBeDefined();
  });

  test("S137 is given up if the bucket stops while it sends the content for verification", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const upload = (await ask(repo, "upload", object)).actions?.upload as BatchAction;
    await put(upload, object.content);
    bucket.intercept((req, res) => {
      if (req.method !== "GET") return false;
      res.writeHead(200, { "content-length": object.size }).write("x");
      return true;
    });
    const location = `s3:${new URL(upload.href).pathname.split("/").slice(2).join("/")}`;
    const verifying = s3Direct.verify(location, object, { silenceMaxMs: 200 });
    await expect(verifying).rejects.toThrow();
    bucket.intercept(undefined);
    expect(await s3Direct.verify(location, object, {})).toBe(location);
  });

  test("S137 is stored at a location that no other client gets during the verification", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const asking = async () => (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const first = await asking();
    const parts = await putParts(first, object.content);
    let second: BatchAction | undefined;
    bucket.intercept((req, res) => {
      if (second || req.method !== "HEAD") return false;
      second = { href: "", expires_in: 1 };
      void asking().then((upload) => {
        second = upload;
        res.writeHead(403).end();
      });
      return true;
    });
    await say(first, { oid: object.oid, parts });
    bucket.intercept(undefined);
    const placeOf = ({ header = {} }: BatchAction) => new URL(header["00001"] as string).pathname;
    expect(placeOf(second as BatchAction)).not.toBe(placeOf(first));
    const held = await db().storageHold.findMany({ where: { id: { contains: object.oid } } });
    expect(held.map(({ bytes }) => Number(bytes))).toEqual([5_000, 5_000]);
  });

  test("S137 does not end or change another account's upload of the same file", async () => {
    const bob = await somebodyWithToken("write-repos");
    const organization = await organizationOf(ada, [[bob, "write"]]);
    const repo = await someRepo(ada, { owner: organization.name });
    const [object, second] = [someObject(), someObject()];
    const asking = async (of: TestObject, person = ada) =>
      (await ask(repo, "upload", of, multipart, person)).actions?.upload as BatchAction;
    const [hers, his] = [await asking(object), await asking(object, bob)];
    const parts = await putParts(hers, object.content);
    const wrong = await putParts(his, altered(object.content));
    expect((await say(his, { oid: object.oid, parts: wrong })).status).toBe(400);
    expect((await say(hers, { oid: object.oid, parts })).status).toBe(200);
    expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
    const [fast, slow] = [await asking(second), await asking(second, bob)];
    expect((await say(fast, { oid: second.oid, parts: await putParts(fast, second.content) })).status).toBe(200);
    expect((await say(slow, { oid: second.oid, parts: await putParts(slow, second.content) })).status).toBe(200);
    expect((await contentOf(repo, second)).equals(second.content)).toBe(true);
    expect(await db().storageHold.count({ where: { id: { contains: repo.id } } })).toBe(0);
    expect(await db().lfsLeftover.count({ where: { location: { contains: repo.id } } })).toBe(0);
  });

  test("does not count if its content differs from the announced content or lacks a part", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    const other = (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    const parts = await putParts(other, altered(object.content));
    expect((await say(other, { oid: object.oid, parts })).status).toBe(400);
    expect(await db().storageHold.count({ where: { id: { contains: object.oid } } })).toBe(0);
    expect(await db().lfsLeftover.count({ where: { location: { contains: repo.id } } })).toBe(0);
    const none = (await ask(repo, "upload", object, multipart)).actions?.upload as BatchAction;
    expect((await say(none, { oid: object.oid, parts: [] })).status).toBe(400);
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
  });
});

test("the JavaScript client uploads a large file in parts, commits it and reads it back, with a bucket", async () => {
  const repo = await someRepo(ada, { type: "dataset", isPrivate: true });
  const client = { repo: `datasets/${repo.fullName}`, hubUrl: world.origin, accessToken: ada.accessToken };
  const object = someObject(33 * 1024 * 1024);
  bucket.asked.length = 0;
  await uploadFile({ ...client, file: { path: "deep/weights.bin", content: new Blob([Uint8Array.from(object.content)]) } });
  expect(bucket.asked.filter((line) => line.startsWith("PUT "))).toHaveLength(2);
  expect(await findLfsObject(repo.id, object.oid)).toBeDefined();
  const file = await downloadFile({ ...client, path: "deep/weights.bin", xet: false });
  expect(Buffer.from((await file?.arrayBuffer()) as ArrayBuffer).equals(object.content)).toBe(true);
});

test("clients transfer the bytes through the service with LFS_S3_PROXY, and never see the bucket's URL", async () => {
  provideSettings({ LFS_S3_PROXY: "1" });
  try {
    const repo = await someRepo(ada);
    const object = someObject(3_000_000);
    const { actions } = await ask(repo, "upload", object, ["basic", "multipart"]);
    expect(actions?.upload?.href).toMatch(new RegExp(`^${world.origin}/`));
    const changed = altered(object.content);
    for (const wrong of [changed, object.content.subarray(1)]) {
      const body = new Blob([Uint8Array.from(wrong)]).stream();
      const response = await fetch(actions?.upload?.href as string, { method: "PUT", body, duplex: "half" } as RequestInit);
      expect(response.status).toBe(400);
    }
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect((await put(actions?.upload as BatchAction, object.content)).status).toBe(200);
    const { href = "" } = (await ask(repo, "download", object)).actions?.download ?? {};
    expect(href).toMatch(new RegExp(`^${world.origin}/`));
    const response = await fetch(href, { headers: { range: "bytes=1000000-" } });
    expect(response.status).toBe(206);
    expect(Buffer.from(await response.arrayBuffer()).equals(object.content.subarray(1_000_000))).toBe(true);
    const { count } = await db().lfsLeftover.deleteMany({ where: { location: { contains: repo.id } } });
    expect(count).toBe(2);
  } finally {
    provideSettings({ LFS_S3_PROXY: "" });
  }
});

test("objects that were stored before the storage setting changed are still found", async () => {
  const repo = await someRepo(ada);
  provideSettings({ LFS_STORAGE: "local" });
  const object = someObject();
  await put((await ask(repo, "upload", object)).actions?.upload as BatchAction, object.content);
  provideSettings({ LFS_STORAGE: "s3" });
  expect((await contentOf(repo, object)).equals(object.content)).toBe(true);
  expect((await ask(repo, "download", object)).actions?.download?.href).toMatch(new RegExp(`^${world.origin}/`));
});

test("a bucket that refuses access is a server error without details", async () => {
  const repo = await someRepo(ada);
  const object = someObject();
  const { actions } = await ask(repo, "upload", object);
  bucket.intercept((_req, res) => {
    res.writeHead(403).end();
    return true;
  });
  const response = await say(actions?.verify, { oid: object.oid, size: object.size });
  bucket.intercept(undefined);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("large-files");
});
