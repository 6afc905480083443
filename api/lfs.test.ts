import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { organizationOf, signedInPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { env, provideSettings } from "#core/env.ts";
import { findLfsObject, lfsSizeOf } from "#core/hub/lfs/objects/find-lfs-object.ts";
import { signTransfer } from "#core/hub/lfs/transfer/transfer-authorization.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { actionsFor, askBatch, type BatchAction, somebodyWithToken, someObject, type TestObject } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: Awaited<ReturnType<typeof somebodyWithToken>>;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await somebodyWithToken("write-repos");
});
afterAll(() => world.stop());

const ask = (...[repo, body, options]: Parameters<typeof askBatch> extends [string, ...infer Rest] ? Rest : never) =>
  askBatch(world.origin, repo, body, options);

async function upload(repo: { id: string; type: "model" | "dataset" | "space"; fullName: string }, ...objects: TestObject[]) {
  const answers = await actionsFor(world.origin, repo, "upload", objects, ada);
  for (const [at, { actions }] of answers.entries()) {
    if (actions?.upload) expect((await put(actions.upload, objects[at]?.content as Buffer)).status).toBe(200);
  }
}

async function put(action: BatchAction | undefined, content: Buffer): Promise<Response> {
  return fetch(action?.href ?? "", {
    method: "PUT",
    body: Uint8Array.from(content),
    ...(action?.header && { headers: action.header }),
  });
}

async function uploadAction(repo: Parameters<typeof upload>[0], object: TestObject): Promise<BatchAction> {
  const [answer] = await actionsFor(world.origin, repo, "upload", [object], ada);
  return answer?.actions?.upload as BatchAction;
}

async function downloadAction(repo: Parameters<typeof upload>[0], object: TestObject): Promise<BatchAction> {
  const [answer] = await actionsFor(world.origin, repo, "download", [object], ada);
  return answer?.actions?.download as BatchAction;
}

const stored = (): string[] =>
  readdirSync(join(env().DATA_DIR, "lfs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const unfinished = (): string[] => readdirSync(join(env().DATA_DIR, "lfs/incoming"));

describe("an object", () => {
  test.each(["model", "dataset", "space"] as const)(
    "of a %s is uploaded and downloaded as the batch response says",
    async (type) => {
      const repo = await someRepo(ada, { type, isPrivate: true });
      const object = someObject();
      const asked = {
        operation: "upload",
        transfers: ["lfs-standalone-file", "basic", "ssh"],
        hash_algo: "sha256",
        objects: [object],
      };
      const answer = await ask(repo, asked, ada);
      expect(answer).toMatchObject({
        status: 200,
        transfer: "basic",
        objects: [{ oid: object.oid, size: 2_000, authenticated: true }],
      });
      expect(answer.headers.get("content-type")).toBe("application/vnd.git-lfs+json");
      expect((await put(answer.objects[0]?.actions?.upload, object.content)).status).toBe(200);
      expect(await findLfsObject(repo.id, object.oid)).toBeDefined();
      const { href, expires_in } = await downloadAction(repo, object);
      expect(expires_in).toBeGreaterThan(0);
      expect(href).not.toContain(ada.accessToken);
      const response = await fetch(href);
      expect(Buffer.from(await response.arrayBuffer()).equals(object.content)).toBe(true);
      // A user's content on our own origin must not run as a page.
      expect(response.headers.get("content-security-policy")).toContain("sandbox");
      expect(response.headers.get("content-disposition")).toBe("attachment");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await actionsFor(world.origin, repo, "upload", [object], ada))[0]?.actions).toBeUndefined();
    },
  );

  test("may be empty", async () => {
    const repo = await someRepo(ada);
    const object = someObject("");
    await upload(repo, object);
    const response = await fetch((await downloadAction(repo, object)).href);
    expect(response.headers.get("content-length")).toBe("0");
    expect(await response.text()).toBe("");
  });

  test("is found under all URLs of its repository", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    await upload(repo, object);
    for (const path of [
      `/${repo.fullName}`,
      `/${repo.fullName}.git`,
      `/models/${repo.fullName}`,
      `/models/${repo.fullName}.git`,
    ]) {
      const response = await fetch(`${world.origin}${path}/info/lfs/objects/batch`, {
        method: "POST",
        body: JSON.stringify({ operation: "download", objects: [object] }),
      });
      expect(await response.json()).toMatchObject({ objects: [{ actions: { download: {} } }] });
    }
  });

  test("is sent in parts if requested, and not to a client that already has it", async () => {
    const repo = await someRepo(ada);
    const object = someObject("0123456789");
    await upload(repo, object);
    const { href } = await downloadAction(repo, object);
    const get = async (headers: Record<string, string>, method = "GET") => {
      const response = await fetch(href, { method, headers });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await get({ range: "bytes=2-4" })).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await get({ range: "bytes=7-" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ range: "bytes=7-400" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ range: "bytes=-3" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ range: "bytes=10-" })).toEqual([416, "bytes */10", ""]);
    expect(await get({ range: "bytes=-0" })).toEqual([416, "bytes */10", ""]);
    expect(await get({ range: "bytes=0-1,4-5" })).toEqual([200, null, "0123456789"]);
    expect(await get({ range: "bytes=4-2" })).toEqual([200, null, "0123456789"]);
    expect(await get({ range: "bytes=2-4", "if-range": '"another"' })).toEqual([200, null, "0123456789"]);
    expect(await get({ range: "bytes=2-4", "if-range": `"${object.oid}"` })).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await get({ "if-none-match": `"${object.oid}"` })).toEqual([304, null, ""]);
    const head = await fetch(href, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), head.headers.get("accept-ranges")]).toEqual([200, "10", "bytes"]);
  });

  test("gets 410 if it is missing on disk", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    await upload(repo, object);
    await db().lfsObject.update({
      where: { repoId_oid: { repoId: repo.id, oid: object.oid } },
      data: { location: `local:${"0".repeat(64)}` },
    });
    expect((await fetch((await downloadAction(repo, object)).href)).status).toBe(410);
  });

  test("counts towards the size of its repository", async () => {
    const repo = await someRepo(ada);
    await upload(repo, someObject(10_000), someObject(20_000));
    expect(await lfsSizeOf(repo.id)).toBe(30_000);
  });
});

describe("an upload", () => {
  const refused = async (change: (object: TestObject) => Buffer) => {
    const repo = await someRepo(ada);
    const object = someObject();
    const before = stored();
    const response = await put(await uploadAction(repo, object), change(object));
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect(stored()).toEqual(before);
    return { status: response.status, ...((await response.json()) as { message: string }) };
  };

  test("is refused if its content is not the announced content, and leaves nothing behind", async () => {
    expect(await refused(({ content }) => Buffer.from(content).fill((content[0] ?? 0) ^ 1, 0, 1))).toMatchObject({
      status: 400,
      message: expect.stringContaining("does not match its SHA-256"),
    });
    expect(await refused(({ content }) => content.subarray(1))).toMatchObject({ status: 400 });
    expect(await refused(({ content }) => Buffer.concat([content, Buffer.from("x")]))).toMatchObject({ status: 400 });
  });

  test.each([
    ["short", 1_000, "ended after 1,000 of 2,000 bytes"],
    ["long", 3_000, "longer than the announced 2,000 bytes"],
  ])("is refused if it is too %s and the request does not state its length", async (_, length, sentence) => {
    const repo = await someRepo(ada);
    const object = someObject();
    const { href } = await uploadAction(repo, object);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.concat([object.content, object.content]).subarray(0, length));
        controller.close();
      },
    });
    const response = await fetch(href, { method: "PUT", body, duplex: "half" } as RequestInit);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(sentence);
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
  });

  test("leaves nothing behind if it is cut off, and can be repeated", async () => {
    const repo = await someRepo(ada);
    const object = someObject(300_000);
    const { href } = await uploadAction(repo, object);
    const sending = request(href, { method: "PUT", headers: { "content-length": object.size } });
    sending.on("error", () => undefined);
    sending.write(object.content.subarray(0, 200_000));
    await vi.waitFor(() => expect(unfinished()).toHaveLength(1), 5_000);
    sending.destroy();
    await vi.waitFor(() => expect(unfinished()).toEqual([]), 5_000);
    expect(await findLfsObject(repo.id, object.oid)).toBeUndefined();
    expect((await fetch(href, { method: "PUT", body: Uint8Array.from(object.content) })).status).toBe(200);
  });

  test("can be made by several clients at once, in one repository or in two", async () => {
    const [one, two] = [await someRepo(ada), await someRepo(ada)];
    const object = someObject(500_000);
    const actions = await Promise.all([one, one, one, two].map((repo) => uploadAction(repo, object)));
    const answers = await Promise.all(actions.map((action) => put(action, object.content)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const repo of [one, two]) {
      const response = await fetch((await downloadAction(repo, object)).href);
      expect(Buffer.from(await response.arrayBuffer()).equals(object.content)).toBe(true);
    }
    expect(stored().filter((name) => name === object.oid)).toHaveLength(1);
    expect(unfinished()).toEqual([]);
  });

  test("is refused if its repository was deleted or closed after the announcement", async () => {
    const [gone, closed] = [await someRepo(ada), await someRepo(ada)];
    const object = someObject();
    const actions = [await uploadAction(gone, object), await uploadAction(closed, object)];
    await db().repo.delete({ where: { id: gone.id } });
    await db().repo.update({ where: { id: closed.id }, data: { isReadOnly: true } });
    const answers = await Promise.all(actions.map((action) => put(action, object.content)));
    expect(answers.map(({ status }) => status)).toEqual([404, 403]);
    expect((await ask(closed, { operation: "upload", objects: [object] }, ada)).status).toBe(403);
    expect(unfinished()).toEqual([]);
  });

  test("is never kept in memory as a whole, nor is a download", async () => {
    const repo = await someRepo(ada);
    const object = someObject(96 * 1024 * 1024);
    const { href } = await uploadAction(repo, object);
    const sending = request(href, { method: "PUT", headers: { "content-length": object.size } });
    const answered = once(sending, "response");
    const piece = 1024 * 1024;
    let most = 0;
    const before = process.memoryUsage().rss;
    for (let at = 0; at < object.size; at += piece) {
      if (!sending.write(object.content.subarray(at, at + piece))) await once(sending, "drain");
      most = Math.max(most, process.memoryUsage().rss - before);
    }
    sending.end();
    const [response] = await answered;
    expect(response.statusCode).toBe(200);
    response.resume();
    const download = request((await downloadAction(repo, object)).href).end();
    const [reading] = await once(download, "response");
    await delay(300);
    most = Math.max(most, process.memoryUsage().rss - before);
    reading.destroy();
    expect(most).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("S135 permissions", () => {
  test("uploads and downloads are decided as for git: by role, visibility and the token's scopes", async () => {
    const reader = await somebodyWithToken("read-repos");
    const weak = await somebodyWithToken("profile");
    const stranger = await somebodyWithToken("write-repos", "read-repos");
    const organization = await organizationOf(ada, [
      [reader, "write"],
      [weak, "write"],
    ]);
    const repo = await someRepo(ada, { owner: organization.name, isPrivate: true });
    const object = someObject();
    await upload(repo, object);
    const status = async (operation: string, accessToken?: string) => {
      const asked = { operation, objects: [someObject()] };
      return (await ask(repo, asked, accessToken === undefined ? {} : { accessToken })).status;
    };
    const row = async (accessToken?: string) => [await status("download", accessToken), await status("upload", accessToken)];
    expect(await row(ada.accessToken)).toEqual([200, 200]);
    expect(await row(reader.accessToken)).toEqual([200, 403]);
    expect(await row(weak.accessToken)).toEqual([404, 404]);
    expect(await row(stranger.accessToken)).toEqual([404, 404]);
    expect(await row("kh_wrong")).toEqual([401, 401]);
    expect(await row()).toEqual([401, 401]);
  });

  test("anybody downloads from a public repository, and uploads nothing", async () => {
    const repo = await someRepo(ada);
    expect((await ask(repo, { operation: "download", objects: [] })).status).toBe(200);
    const answer = await ask(repo, { operation: "upload", objects: [] });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("lfs-authenticate")).toMatch(/^Basic realm=/);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
  });

  test("nobody reads a gated repository without access", async () => {
    const reader = await somebodyWithToken("gated-repos");
    const repo = await someRepo(ada);
    await db().repo.update({ where: { id: repo.id }, data: { gated: "auto" } });
    const answer = await ask(repo, { operation: "download", objects: [] }, reader);
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([403, "GatedRepo"]);
    expect((await ask(repo, { operation: "download", objects: [] })).status).toBe(401);
  });

  test("S136 private and missing repositories get the same response", async () => {
    const hidden = await someRepo(await signedInPerson(), { isPrivate: true });
    const missing = { type: "model" as const, fullName: `${ada.username}/nothing` };
    for (const options of [{}, ada]) {
      const [one, other] = await Promise.all(
        [hidden, missing].map((repo) => ask(repo, { operation: "download", objects: [] }, options)),
      );
      const comparable = ({ status, message, headers }: typeof one & object) => [status, message, headers.get("x-error-code")];
      expect(comparable(one as never)).toEqual(comparable(other as never));
    }
  });

  test("a token is accepted as a bearer token, or as a user name without a password", async () => {
    const repo = await someRepo(ada, { isPrivate: true });
    const body = { operation: "download", objects: [] };
    const basic = `basic ${Buffer.from(`${ada.accessToken}:`).toString("base64")}`;
    for (const authorization of [`Bearer ${ada.accessToken}`, basic]) {
      expect((await ask(repo, body, { headers: { authorization } })).status).toBe(200);
    }
  });

  test("knowing the hash of another repository's object gives no access to the object", async () => {
    const secret = await someRepo(await signedInPerson(), { isPrivate: true });
    const own = await someRepo(ada);
    const object = someObject("the password is tide");
    await db().lfsObject.create({
      data: { repoId: secret.id, oid: object.oid, sizeBytes: object.size, location: `local:${object.oid}` },
    });
    const [download] = (await ask(own, { operation: "download", objects: [object] }, ada)).objects;
    expect(download?.error?.code).toBe(404);
    const [answer] = await actionsFor(world.origin, own, "upload", [object], ada);
    expect(answer?.actions?.upload).toBeDefined();
    const guess = someObject("the password is wave");
    expect((await put(answer?.actions?.upload, guess.content)).status).toBe(400);
    expect(await findLfsObject(own.id, object.oid)).toBeUndefined();
    expect((await ask(own, { operation: "download", objects: [object] }, ada)).objects[0]?.error?.code).toBe(404);
  });
});

describe("the URL of a transfer", () => {
  test("S135 refuses uploads of users who may no longer write to the repository, and uploads with a revoked token", async () => {
    const admin = await signedInPerson();
    const [removed, revoked, stays] = [
      await somebodyWithToken("write-repos"),
      await somebodyWithToken("write-repos"),
      await somebodyWithToken("write-repos"),
    ];
    const organization = await organizationOf(admin, [
      [removed, "write"],
      [revoked, "write"],
      [stays, "write"],
    ]);
    const repo = await someRepo(admin, { owner: organization.name, isPrivate: true });
    const object = someObject();
    const addressFor = async (of: typeof stays) =>
      (await actionsFor(world.origin, repo, "upload", [object], of))[0]?.actions?.upload;
    const addresses = [await addressFor(removed), await addressFor(revoked), await addressFor(stays)];
    await db().membership.deleteMany({ where: { userId: removed.id } });
    await db().personalAccessToken.updateMany({ where: { userId: revoked.id }, data: { revokedAt: new Date() } });
    await db().personalAccessToken.updateMany({ where: { userId: stays.id }, data: { expiresAt: new Date(Date.now() - 1) } });
    const statuses: number[] = [];
    for (const address of addresses) statuses.push((await put(address, object.content)).status);
    expect(statuses).toEqual([404, 403, 200]);
    for (const step of ["verify", "complete"]) {
      const href = addresses[1]?.href.replace("?", `/${step}?`) ?? "";
      const body = JSON.stringify({ oid: object.oid, size: object.size, parts: [] });
      expect((await fetch(href, { method: "POST", body })).status).toBe(403);
    }
  });

  test("is valid only for its object, its operation and its time", async () => {
    const repo = await someRepo(ada, { isPrivate: true });
    const [object, other] = [someObject(), someObject()];
    await upload(repo, object, other);
    const { href } = await downloadAction(repo, object);
    const status = async (address: string, method = "GET") => (await fetch(address, { method })).status;
    expect(await status(href)).toBe(200);
    expect(await status(href, "PUT")).toBe(403);
    expect(await status(href.replace(object.oid, other.oid))).toBe(403);
    expect(await status(href.replace(/transfer=./, "transfer=X"))).toBe(403);
    expect(await status(href.slice(0, -1))).toBe(403);
    expect(await status(`${href.split("?")[0]}`)).toBe(403);
    expect(await status(`${href.split("?")[0]}?transfer=.`)).toBe(403);
    const signed = { operation: "download", repoId: repo.id, oid: object.oid, size: object.size } as const;
    const at = (time: number) => `${href.split("?")[0]}?transfer=${signTransfer(signed, time)}`;
    expect(await status(at(Date.now() - 59 * 60_000))).toBe(200);
    expect(await status(at(Date.now() - 61 * 60_000))).toBe(403);
  });
});

test("S53 a page of another origin uploads and downloads with its token, and reads what went wrong", async () => {
  const repo = await someRepo(ada, { isPrivate: true });
  const object = someObject();
  const origin = { origin: "https://a-page-somewhere.example" };
  const { href } = await uploadAction(repo, object);
  const batch = `${world.origin}/${repo.fullName}.git/info/lfs/objects/batch`;
  for (const [method, address] of [
    ["POST", batch],
    ["PUT", href],
  ] as const) {
    const asks = {
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type,accept",
    };
    const preflight = await fetch(address, { method: "OPTIONS", headers: { ...origin, ...asks } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toContain(method);
  }
  const refused = await fetch(batch, { method: "POST", headers: origin, body: "{}" });
  const uploaded = await fetch(href, { method: "PUT", headers: origin, body: Uint8Array.from(object.content) });
  const downloaded = await fetch((await downloadAction(repo, object)).href, { headers: origin });
  expect([refused.status, uploaded.status, downloaded.status]).toEqual([422, 200, 200]);
  for (const { headers } of [refused, uploaded, downloaded]) expect(headers.get("access-control-allow-origin")).toBe("*");
});

describe("S138 a batch", () => {
  test("has a separate result for each object", async () => {
    const repo = await someRepo(ada);
    const object = someObject();
    await upload(repo, object);
    const objects = [
      object,
      someObject(),
      { oid: "../../etc/passwd", size: 1 },
      { oid: object.oid.toUpperCase(), size: 1 },
      { oid: someObject().oid, size: -1 },
      { oid: someObject().oid, size: "1" },
      { oid: 7, size: 1 },
      { oid: { toString: 1, valueOf: 1 }, size: 1 },
      { oid: someObject().oid, size: { toString: 1, valueOf: 1 } },
      { oid: `${someObject().oid.slice(1)}\0`, size: 1 },
    ];
    const answer = await ask(repo, { operation: "download", objects }, ada);
    expect(answer.status).toBe(200);
    expect(answer.objects.map(({ error }) => error?.code)).toEqual([undefined, 404, ...Array(8).fill(422)]);
    const otherSize = await ask(repo, { operation: "upload", objects: [{ oid: object.oid, size: 3 }] }, ada);
    expect(otherSize.objects[0]?.error?.code).toBe(422);
  });

  test("accepts no object larger than the operator allows", async () => {
    const repo = await someRepo(ada);
    provideSettings({ LFS_MAX_OBJECT_MB: "1" });
    const objects = [1_000_000, 1_000_001].map((size) => ({ oid: someObject().oid, size }));
    const answer = await ask(repo, { operation: "upload", objects }, ada);
    provideSettings({ LFS_MAX_OBJECT_MB: "" });
    expect(answer.objects.map(({ error }) => error?.code)).toEqual([undefined, 422]);
  });

  test("may name SHA-256 in both spellings that clients use, and no other hash algorithm", async () => {
    const repo = await someRepo(ada);
    const status = async (hash_algo: string) => (await ask(repo, { operation: "download", hash_algo, objects: [] })).status;
    expect(await Promise.all(["sha256", "sha_256", "sha512"].map(status))).toEqual([200, 200, 409]);
  });

  test.each([
    ["{", 422],
    ["[]", 422],
    ["{}", 422],
    [{ operation: "delete", objects: [] }, 422],
    [{ operation: "download", objects: {} }, 422],
    [{ operation: "download", objects: [null] }, 422],
    [{ operation: "download", objects: Array.from({ length: 1_001 }, () => ({ oid: "0", size: 0 })) }, 413],
    ["x".repeat(1024 * 1024 + 1), 413],
  ])("is refused if its body is invalid (%#)", async (body, status) => {
    const answer = await ask(await someRepo(ada), body as object, ada);
    expect(answer.status).toBe(status);
    expect(answer.message ?? answer.error).toEqual(expect.any(String));
  });

  test("has one result for an object that is named twice", async () => {
    const object = someObject();
    const answer = await ask(await someRepo(ada), { operation: "upload", objects: [object, object] }, ada);
    expect(answer.objects).toHaveLength(1);
  });
});

test("the response that locks are not supported has the form that git-lfs expects", async () => {
  const { fullName } = await someRepo(ada);
  for (const [method, path] of [
    ["GET", "locks"],
    ["POST", "locks"],
    ["POST", "locks/verify"],
    ["POST", "locks/7/unlock"],
  ]) {
    const response = await fetch(`${world.origin}/${fullName}.git/info/lfs/${path}`, { method: method as string });
    expect(response.status).toBe(501);
    expect(await response.json()).toEqual({ message: expect.any(String) });
  }
});
