import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import { isAllowedOrOwnAddress } from "./is-allowed-address.ts";
import { OutboundFailure } from "./request.ts";
import { type StreamedRequest, streamRequest } from "./stream-request.ts";
import { MIB, rawSite, site } from "./testing/sites.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));

async function stream(url: string, more: Partial<StreamedRequest> = {}) {
  const result = await streamRequest({ url, idleMs: 5_000, deadlineMs: 120_000, ...more });
  if (result.outcome !== "answered") throw new Error(result.reason);
  return result;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("a response arrives in pieces, over a longer time than the allowed silence", async () => {
  const { promise: hasFirst, resolve: goOn } = Promise.withResolvers<void>();
  const { url } = await site(async (_req, res) => {
    res.write("one ");
    await hasFirst;
    for (const word of ["two ", "three"]) {
      await delay(600);
      res.write(word);
    }
    await delay(600);
    res.end();
  });
  const { body } = await stream(url, { idleMs: 1_500 });
  const first = await body.next();
  expect(Buffer.from(first.value ?? "").toString()).toBe("one ");
  goOn();
  expect(await textOf(body)).toBe("two three");
  const zipped = await site((_req, res) => res.setHeader("content-encoding", "gzip").end(gzipSync("all of it")));
  expect(await textOf((await stream(zipped.url)).body)).toBe("all of it");
});

test("S120 silence of the other side ends a response, but a slow reader does not", async () => {
  const silent = await rawSite(() => undefined);
  expect(await streamRequest({ url: silent, idleMs: 200, deadlineMs: 120_000 })).toEqual({
    outcome: "unreachable",
    reason: "no response arrived in time",
    isTimeout: true,
  });
  let closed = false;
  const { url } = await site((_req, res) => {
    res.write("begin");
    res.on("close", () => (closed = true));
  });
  const { body } = await stream(url, { idleMs: 1_000 });
  await delay(1_500);
  await body.next();
  await delay(1_500);
  await expect(body.next()).rejects.toMatchObject({ result: { outcome: "unreachable", isTimeout: true } });
  await expect.poll(() => closed).toBe(true);
  const lively = await site((_req, res) => void setInterval(() => res.write("x"), 20).unref());
  const ended = textOf((await stream(lively.url, { deadlineMs: 2_000 })).body);
  await expect(ended).rejects.toThrow(OutboundFailure);
});

test("a client that disconnects ends the request on the other side, before and after the head", async () => {
  const arrived = Promise.withResolvers<void>();
  const ends: string[] = [];
  const { url } = await site((req, res) => {
    res.on("close", () => ends.push(req.url ?? ""));
    if (req.url !== "/silent") res.write("begin");
    arrived.resolve();
  });
  const gone = new AbortController();
  const waiting = streamRequest({ url: `${url}/silent`, idleMs: 5_000, deadlineMs: 9_000, signal: gone.signal });
  await arrived.promise;
  gone.abort();
  expect(await waiting).toMatchObject({ outcome: "unreachable", reason: "the request was abandoned" });
  await expect.poll(() => ends).toEqual(["/silent"]);

  expect(
    await streamRequest({ url: `${url}/gone`, idleMs: 5_000, deadlineMs: 9_000, signal: AbortSignal.abort() }),
  ).toMatchObject({ outcome: "unreachable", reason: "the request was abandoned" });

  const midway = new AbortController();
  const { body } = await stream(`${url}/midway`, { signal: midway.signal });
  await body.next();
  const next = body.next();
  midway.abort();
  await expect(next).rejects.toThrow(OutboundFailure);
  const { body: left } = await stream(`${url}/left`);
  for await (const _ of left) break;
  const { close } = await stream(`${url}/closed`);
  close();
  await expect.poll(() => ends).toEqual(["/silent", "/midway", "/left", "/closed"]);

  const broken = await rawSite((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour"));
  await expect(textOf((await stream(broken)).body)).rejects.toMatchObject({ result: { isTimeout: false } });
});

test("unread data is not fetched, so that it does not fill memory", async () => {
  let sent = 0;
  const { url } = await site(async (_req, res) => {
    while (!res.closed && sent < 256) {
      sent++;
      if (!res.write(Buffer.alloc(MIB))) await Promise.race([once(res, "drain"), once(res, "close")]);
    }
  });
  const { body, close } = await stream(url);
  await body.next();
  await delay(500);
  expect(sent).toBeLessThan(64);
  close();
});

test("S117 private addresses are allowed only for a provider that is marked, and metadata services never", async () => {
  provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
  const { url, seen } = await site((_req, res) => res.end("next door"));
  const request = { url, idleMs: 1_000, deadlineMs: 5_000 };
  expect(await streamRequest(request)).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
  expect(seen.connections).toBe(0);
  expect(await textOf((await stream(url, { allows: isAllowedOrOwnAddress })).body)).toBe("next door");
  for (const own of ["10.1.2.3", "172.20.0.1", "192.168.1.1", "::1", "::ffff:10.0.0.1", "fd12::1", "8.8.8.8"]) {
    expect(isAllowedOrOwnAddress(own), own).toBe(true);
  }
  for (const other of [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "100.100.100.200",
    "fd00:ec2::254",
    "0.0.0.0",
    "x",
  ]) {
    expect(isAllowedOrOwnAddress(other), other).toBe(false);
  }
});
