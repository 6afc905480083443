import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { deflateSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import { isServiceError } from "../../../errors.ts";
import type { Slot } from "../../../fair-queue/fair-queue.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { largeRequests, pushes, requestMemory } from "../queues.ts";
import { pktLine } from "./pkt-line.ts";
import { receivePack } from "./receive-pack.ts";
import { spoolRequest } from "./spool-request.ts";

const pace = { graceMs: 600, checkEveryMs: 20, bytesPerSecond: 100 };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function spooling(maxBytes = 10_000_000, graceMs = pace.graceMs): Promise<string> {
  const server = createServer(async (req, res) => {
    try {
      const { stream, close } = await spoolRequest({ req, res }, { maxBytes, within: "r", pace: { ...pace, graceMs } });
      res.end(await text(stream));
      await close();
    } catch (error) {
      if (!isServiceError(error)) throw error;
      res.writeHead(error.status).end(error.message);
    }
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function send(
  origin: string,
  pieces: string[],
  pauseMs: number,
  { ends = true } = {},
): Promise<{ status: number; body: string }> {
  const req = request(origin, { method: "POST", agent: false });
  req.on("error", () => undefined);
  const answered = once(req, "response") as Promise<[IncomingMessage]>;
  for (const piece of pieces) {
    req.write(piece);
    await delay(pauseMs);
  }
  if (ends) req.end();
  const [res] = await answered;
  return { status: res.statusCode ?? 0, body: await text(res) };
}

test("a buffered request is read back unchanged, from memory or a file", async () => {
  const origin = await spooling();
  const large = "0123456789".repeat(60_000);
  for (const body of ["", "small", large]) expect(await send(origin, body ? [body] : [], 0)).toEqual({ status: 200, body });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, each) => send(origin, [large, `${each}`], 5)));
  expect(answers.map(({ body }) => body.slice(600_000))).toEqual(Array.from({ length: 20 }, (_, each) => `${each}`));
  await expect.poll(() => largeRequests.counts.taken).toBe(0);
});

test("S137 a client that stops sending gets an error, and a slow but steady one is served", async () => {
  const origin = await spooling();
  const steady = send(
    origin,
    Array.from({ length: 30 }, () => "ten bytes."),
    50,
  );
  const idle = await send(origin, ["x"], 0, { ends: false });
  expect(idle.status).toBe(503);
  expect(idle.body).toMatch(/too slowly.* Try again/);
  expect(await steady).toEqual({ status: 200, body: "ten bytes.".repeat(30) });
});

test("S137 a request that is too large or ends early is deleted", async () => {
  const origin = await spooling(300_000);
  expect(await send(origin, ["x".repeat(300_001)], 50, { ends: false })).toMatchObject({ status: 413 });
  const cut = request(origin, { method: "POST", agent: false });
  cut.on("error", () => undefined);
  cut.write("x".repeat(200_000));
  await expect.poll(() => largeRequests.counts.taken).toBe(1);
  cut.destroy();
  await expect.poll(() => largeRequests.counts.taken).toBe(0);
});

describe("S137 the memory of requests that do not end", () => {
  const open: Socket[] = [];
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await expect.poll(() => requestMemory.counts.taken + largeRequests.counts.taken, { timeout: 10_000 }).toBe(0);
  });

  async function begin(origin: string, body: string): Promise<void> {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1").on("error", () => undefined);
    open.push(socket);
    await once(socket, "connect");
    await new Promise((sent) => socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`, sent));
  }

  test("is less than 50 bytes for each chunk of one byte", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const origin = await spooling(10_000_000, 60_000);
    const before = used();
    await Promise.all([1, 2, 3].map(() => begin(origin, "1\r\nX\r\n".repeat(30_000))));
    await expect.poll(() => requestMemory.counts.taken, { timeout: 10_000 }).toBe(3);
    await delay(300);
    expect((used() - before) / 90_000).toBeLessThan(50);
  });

  test("is shared, and one caller in one repository gets a third of it", async () => {
    const origin = await spooling(10_000_000, 60_000);
    const body = "x".repeat(5_000);
    await Promise.all(Array.from({ length: 130 }, () => begin(origin, `${body.length.toString(16)}\r\n${body}\r\n`)));
    await expect.poll(() => largeRequests.counts, { timeout: 10_000 }).toMatchObject({ taken: 5, waiting: 40 });
    expect(requestMemory.counts.taken).toBe(85);
    expect(await send(origin, ["small"], 0)).toEqual({ status: 200, body: "small" });
  });
});

function packOfOddTrees(trees: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(trees + 1);
  const blob = hash("sha1", "blob 1\0x", "buffer");
  const objects = [Buffer.from([(3 << 4) | 1]), deflateSync("x")];
  for (let each = 0; each < trees; each++) {
    const name = String(each).padStart(7, "0");
    const tree = Buffer.concat([Buffer.from(`100666 ${name}\0`), blob]);
    objects.push(Buffer.from([0x80 | (2 << 4) | (tree.length & 15), tree.length >> 4]), deflateSync(tree, { level: 0 }));
  }
  const body = Buffer.concat([Buffer.from("PACK\0\0\0\x02", "latin1"), count, ...objects]);
  return Buffer.concat([body, hash("sha1", body, "buffer")]);
}

describe("S137 a push", () => {
  let ada: TestPerson;
  let repo: Repo;
  beforeAll(async () => {
    ada = await signedInPerson();
    repo = await someRepo(ada);
    await commitTo(repo, ada, { "README.md": "# Tide\n" });
  });

  async function receiving(asked: Partial<Watched> = pace): Promise<string> {
    const server = createServer((req, res) => {
      receivePack(async () => ada.actor, repo, repo.fullName, { req, res }, asked).catch((error) =>
        res.writeHead(error.status).end(error.message),
      );
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const head = Buffer.concat([
    pktLine(`${"0".repeat(40)} ${"1".repeat(40)} refs/heads/side\0 report-status side-band-64k`),
    Buffer.from("0000"),
  ]);

  async function pushing(asked?: Partial<Watched>) {
    const headers = { "content-type": "application/x-git-receive-pack-request", "content-length": "100000" };
    const req = request(await receiving(asked), { method: "POST", agent: false, headers });
    return req.on("error", () => undefined);
  }

  test("that stops in its middle loses its slot and gets the reason", async () => {
    const req = await pushing();
    req.write(head);
    req.write("PACK");
    const answered = once(req, "response") as Promise<[IncomingMessage]>;
    await expect.poll(() => pushes.counts.taken, { interval: 5 }).toBe(1);
    const [res] = await answered;
    expect(await text(res)).toMatch(/arrived too slowly.*ng refs\/heads\/side/s);
    expect(pushes.counts.taken).toBe(0);
    if (!req.socket?.destroyed) await once(req.socket as Socket, "close");
  });

  test("whose head stops in its middle gets the reason", async () => {
    const req = await pushing();
    req.write(head.subarray(0, 50));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    expect([res.statusCode, await text(res)]).toEqual([503, expect.stringMatching(/arrived too slowly.* Try again/)]);
    if (!req.socket?.destroyed) await once(req.socket as Socket, "close");
  });

  test("that is refused must still arrive at the required pace", async () => {
    const mallory = await signedInPerson("mallory");
    const server = createServer(
      (req, res) => void receivePack(async () => mallory.actor, repo, repo.fullName, { req, res }, pace),
    );
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const headers = { "content-type": "application/x-git-receive-pack-request", "content-length": "100000" };
    const req = request({ port: (server.address() as AddressInfo).port, method: "POST", agent: false, headers });
    req.on("error", () => undefined);
    req.write(head);
    req.write("PACK");
    const [socket] = (await once(req, "socket")) as [Socket];
    await once(socket, "close");
  });

  test("whose client does not read git's warnings keeps few of them in memory", {
    timeout: 120_000,
  }, async () => {
    const unread: number[] = [];
    const server = createServer((req, res) => {
      const timer = setInterval(() => unread.push(res.writableLength), 5);
      void receivePack(async () => ada.actor, repo, repo.fullName, { req, res }).finally(() => clearInterval(timer));
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const req = request({
      port: (server.address() as AddressInfo).port,
      method: "POST",
      agent: false,
      headers: { "content-type": "application/x-git-receive-pack-request" },
    });
    const answered = once(req, "response") as Promise<[IncomingMessage]>;
    req.end(Buffer.concat([head, packOfOddTrees(60_000)]));
    const [res] = await answered;
    await expect.poll(() => pushes.counts.taken, { timeout: 100_000 }).toBe(0);
    expect(Math.max(...unread)).toBeLessThan(1024 * 1024);
    const said = await text(res);
    expect(said).toContain("contains bad file modes");
    expect(said).toMatch(/ng refs\/heads\/side/);
  });

  test("that is slow yields its slot when another caller waits", async () => {
    const req = await pushing({ ...pace, graceMs: 60_000, contendedGraceMs: 50 });
    req.write(head);
    req.write("PACK");
    await expect.poll(() => pushes.counts.taken, { interval: 5 }).toBe(1);
    const others: Promise<Slot>[] = [];
    for (let party = 0; pushes.counts.waiting === 0; party++) {
      others.push(pushes.take({ party: { key: `account ${party}`, isAnonymous: false } }));
    }
    const [res] = (await once(req, "response")) as [IncomingMessage];
    expect(await text(res)).toMatch(/too slowly.*ng refs\/heads\/side/s);
    for (const release of await Promise.all(others)) release();
    expect(pushes.counts).toMatchObject({ taken: 0, waiting: 0 });
  });
});

test("a transfer is not charged for the time in which its client waits for the server", async () => {
  let isTooSlow = false;
  const stop = watchPace({ ...pace, graceMs: 50, bytes: () => 0, isWaiting: () => false, onTooSlow: () => (isTooSlow = true) });
  await delay(150);
  stop();
  expect(isTooSlow).toBe(false);
});
