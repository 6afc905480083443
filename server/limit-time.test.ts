import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { FairQueue } from "#core/fair-queue/fair-queue.ts";
import { type RequestContext, requestContext } from "#core/log.ts";
import { type Limits, limitTime } from "./limit-time.ts";

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  stopping.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const stopping: (() => void)[] = [];
afterEach(() => {
  for (const stop of stopping.splice(0)) stop();
});

async function drip(body: Limits["body"], pauseMs: number, graceMs = 5_000): Promise<string> {
  const server = createServer((req, res) => {
    limitTime(req, res, { body, arrivalMs: 600, idleMs: 600, graceMs });
    let received = "";
    req.on("data", (chunk) => (received += chunk));
    req.on("error", () => undefined);
    req.on("end", () => setTimeout(() => res.end(received), 800));
  });
  const port = await listening(server);
  const sending = request({ port, host: "127.0.0.1", method: "PUT", headers: { "content-length": 5 } });
  const answered = once(sending, "response").then(
    async ([response]) => Buffer.concat(await response.toArray()).toString(),
    (error: NodeJS.ErrnoException) => String(error.code),
  );
  for (const digit of "12345") {
    if (sending.destroyed) break;
    sending.write(digit);
    await delay(pauseMs);
  }
  sending.end();
  return answered;
}

test("a request has to arrive within its time limit, which does not apply to its processing", async () => {
  const [quick, slow] = await Promise.all([drip("whole", 10), drip("whole", 300)]);
  expect(quick).toBe("12345");
  expect(slow).toMatch(/ECONNRESET|EPIPE/);
});

test("a body slower than 1 KiB a second is abandoned before its time is over", async () => {
  const [quick, slow] = await Promise.all([drip("whole", 0, 200), drip("whole", 100, 200)]);
  expect(quick).toBe("12345");
  expect(slow).toMatch(/ECONNRESET|EPIPE/);
});

test("a transfer may take any time, unless nothing arrives", async () => {
  const [steady, stalled] = await Promise.all([drip("transfer", 300), drip("transfer", 1_500)]);
  expect(steady).toBe("12345");
  expect(stalled).toMatch(/ECONNRESET|EPIPE/);
});

test("S137 a body that is passed on may take any time, at a minimum pace", async () => {
  const [steady, slow] = await Promise.all([drip("passed_on", 300), drip("passed_on", 100, 200)]);
  expect(steady).toBe("12345");
  expect(slow).toMatch(/ECONNRESET|EPIPE/);
});

async function isSentWhole(
  answer: (res: ServerResponse) => void,
  { read = async () => undefined, graceMs = 400 }: { read?: (socket: Socket) => Promise<void>; graceMs?: number } = {},
): Promise<boolean> {
  const over = Promise.withResolvers<boolean>();
  const server = createServer((req, res) => {
    limitTime(req, res, { body: "whole", readGraceMs: graceMs });
    res.once("close", () => over.resolve(res.writableFinished));
    answer(res);
  });
  const socket = connect(await listening(server), "127.0.0.1").on("error", () => undefined);
  stopping.push(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  // Unread data stays with the kernel, and fills its buffer.
  socket.on("readable", () => undefined);
  await read(socket);
  return over.promise;
}

const LARGE = Buffer.alloc(32 * 1024 * 1024, "x");

test("S137 a response that nobody reads is ended, whether it is sent from memory or piece by piece", async () => {
  expect(await isSentWhole((res) => res.end(LARGE))).toBe(false);
  const pieces = function* () {
    for (let at = 0; at < LARGE.length; at += 65_536) yield LARGE.subarray(at, at + 65_536);
  };
  expect(await isSentWhole((res) => void Readable.from(pieces()).pipe(res))).toBe(false);
});

test("S137 a response that nobody reads yields its slot to a waiting caller", async () => {
  const queue = new FairQueue({ name: "test", slots: 1 });
  let asked = 0;
  const server = createServer((req, res) => {
    const context: RequestContext = {
      requestId: "test",
      party: { key: `account ${asked++}`, isAnonymous: false },
      whenClosed: (listener) => {
        res.once("close", listener);
        return () => void res.off("close", listener);
      },
    };
    void requestContext.run(context, async () => {
      limitTime(req, res, { body: "whole", readGraceMs: 60_000, contendedGraceMs: 200 });
      await queue.takeUntilAnswered();
      res.end(LARGE);
    });
  });
  const port = await listening(server);
  const unread = connect(port, "127.0.0.1").on("error", () => undefined);
  stopping.push(() => unread.destroy());
  unread.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(() => queue.counts.taken).toBe(1);
  const answer = await fetch(`http://127.0.0.1:${port}`);
  expect((await answer.arrayBuffer()).byteLength).toBe(LARGE.length);
});

test("S137 one caller's unread responses have a limited share of memory", async () => {
  const unread = new Map<string, number>();
  let asked = 0;
  const server = createServer((req, res) => {
    const ip = String(req.url).slice(1);
    asked += 1;
    unread.set(ip, (unread.get(ip) ?? 0) + 1);
    res.once("close", () => unread.set(ip, (unread.get(ip) ?? 0) - 1));
    requestContext.run({ requestId: "test", ip }, () => {
      limitTime(req, res, { body: "whole", readGraceMs: 60_000, contendedGraceMs: 200 });
      res.end(LARGE);
    });
  });
  const port = await listening(server);
  for (const ip of [...Array(8).fill("192.0.2.1"), "198.51.100.1"]) {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    stopping.push(() => socket.destroy());
    socket.write(`GET /${ip} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }
  await expect.poll(() => asked).toBe(9);
  await expect.poll(() => unread.get("192.0.2.1"), { timeout: 10_000 }).toBe(2);
  expect(unread.get("198.51.100.1")).toBe(1);
});

test("a response that is read slowly or with pauses is sent whole", async () => {
  // A busy machine must not shorten the grace.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  stopping.push(() => vi.useRealTimers());
  const graceMs = 3_000;
  const steadily = async (socket: Socket) => {
    for (let read = 0; !socket.destroyed && socket.bytesRead < LARGE.length; ) {
      while (socket.read() !== null);
      if (socket.bytesRead >= read + 1024 * 1024) {
        read = socket.bytesRead;
        vi.advanceTimersByTime(700);
      }
      await nextTurn();
    }
  };
  expect(await isSentWhole((res) => res.end(LARGE), { read: steadily, graceMs })).toBe(true);
  const events = async (res: ServerResponse) => {
    res.write("data: 1\n\n");
    await expect.poll(() => res.writableLength).toBe(0);
    vi.advanceTimersByTime(3 * graceMs);
    res.end("data: 2\n\n");
  };
  expect(await isSentWhole(events, { graceMs })).toBe(true);
});

async function sendChunks(count: number, content: string): Promise<string> {
  const server = createServer(async (req, res) => {
    limitTime(req, res, { body: "transfer" });
    let received = 0;
    req.on("data", (chunk: Buffer) => (received += chunk.length));
    req.on("error", () => undefined);
    req.on("end", () => res.end(`received ${received}`));
  });
  const socket = connect(await listening(server), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.write(`${content.length.toString(16)}\r\n${content}\r\n`.repeat(count));
  socket.write("0\r\n\r\n");
  return text(socket).catch((error: NodeJS.ErrnoException) => String(error.code));
}

test("S137 thousands of tiny chunks end the request, unlike fewer or larger chunks", async () => {
  expect(await sendChunks(20_000, "x")).not.toContain("received");
  expect(await sendChunks(4_000, "x")).toContain("received 4000");
  expect(await sendChunks(20_000, "x".repeat(100))).toContain("received 2000000");
});
