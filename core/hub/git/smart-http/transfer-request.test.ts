import type { IncomingMessage } from "node:http";
import { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { feed, transferBody } from "./transfer-request.ts";

const MIB = 1024 * 1024;
const bomb = gzipSync(Buffer.alloc(256 * MIB));
const compressed = { headers: { "content-encoding": "gzip" } } as unknown as IncomingMessage;
const arriving = () =>
  Readable.from([bomb.subarray(0, 1024), bomb.subarray(1024, 65_536), bomb.subarray(65_536)], { objectMode: false });

it("S137 only what git reads is decompressed", async () => {
  const source = arriving();
  const body = transferBody(compressed, source, 1024 * MIB);
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done(new Error("git has read enough")) });
  stdin.on("error", () => undefined);
  feed(body, stdin);
  await finished(source);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(body.receivedBytes()).toBeLessThan(4 * MIB);
});

it("S137 a dropped request is read to its end without decompressing it", async () => {
  const source = arriving();
  const body = transferBody(compressed, source, 1024 * MIB);
  await body.drop();
  expect(source.readableEnded).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(body.receivedBytes()).toBeLessThan(4 * MIB);
});

it("S137 a request is decompressed up to its limit, and read to its end", async () => {
  const source = arriving();
  const body = transferBody(compressed, source, MIB);
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done() });
  feed(body, stdin);
  await finished(source);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(body.isCut()).toBe(true);
  expect(body.receivedBytes()).toBeLessThan(4 * MIB);
  expect(stdin.destroyed || stdin.writableEnded).toBe(true);
});
