import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { limitTime } from "./limit-time.ts";

const stopping: (() => void)[] = [];
afterEach(() => {
  for (const stop of stopping.splice(0)) stop();
});

/** Sends a body of five bytes, one after each pause. @returns what was answered, or the error */
async function drip(isTransfer: boolean, pauseMs: number, graceMs = 5_000): Promise<string> {
  const server = createServer((req, res) => {
    limitTime(req, res, { isTransfer, arrivalMs: 600, idleMs: 600, graceMs });
    let received = "";
    req.on("data", (chunk) => (received += chunk));
    req.on("error", () => undefined);
    // What it takes after all has arrived is not the sender's time.
    req.on("end", () => setTimeout(() => res.end(received), 800));
  });
  server.listen(0, "127.0.0.1");
  stopping.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
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

test("a request has to arrive within its time, and is not hurried after", async () => {
  const [quick, slow] = await Promise.all([drip(false, 10), drip(false, 300)]);
  expect(quick).toBe("12345");
  expect(slow).toMatch(/ECONNRESET|EPIPE/);
});

test("a body that comes more slowly than 1 KiB a second is given up before its time is over", async () => {
  const [quick, slow] = await Promise.all([drip(false, 10, 200), drip(false, 100, 200)]);
  expect(quick).toBe("12345");
  expect(slow).toMatch(/ECONNRESET|EPIPE/);
});

test("a transfer takes as long as it takes, unless nothing of it arrives", async () => {
  const [steady, stalled] = await Promise.all([drip(true, 300), drip(true, 1_500)]);
  expect(steady).toBe("12345");
  expect(stalled).toMatch(/ECONNRESET|EPIPE/);
});

/** Sends chunks of HTTP as they are, many in one write. @returns the answer, or what came of it before the connection ended */
async function sendChunks(count: number, content: string): Promise<string> {
  const server = createServer(async (req, res) => {
    limitTime(req, res, { isTransfer: true });
    let received = 0;
    req.on("data", (chunk: Buffer) => (received += chunk.length));
    req.on("error", () => undefined);
    req.on("end", () => res.end(`received ${received}`));
  });
  server.listen(0, "127.0.0.1");
  stopping.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.write(`${content.length.toString(16)}\r\n${content}\r\n`.repeat(count));
  socket.write("0\r\n\r\n");
  return text(socket).catch((error: NodeJS.ErrnoException) => String(error.code));
}

test("S137 thousands of tiny chunks end the request; few of them, or larger ones, do not", async () => {
  expect(await sendChunks(20_000, "x")).not.toContain("received");
  expect(await sendChunks(4_000, "x")).toContain("received 4000");
  expect(await sendChunks(20_000, "x".repeat(100))).toContain("received 2000000");
});
