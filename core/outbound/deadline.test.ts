import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { provideSettings } from "../env.ts";
import type { OutboundResult } from "./request.ts";
import { resolveHost } from "./resolve-host.ts";
import { sendRequest } from "./send-request.ts";
import { startNameServer } from "./testing/name-server.ts";
import { ask, KIB, MIB, rawSite, site } from "./testing/sites.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));

describe("S76 S120 one deadline", () => {
  async function timed(sending: Promise<OutboundResult>): Promise<OutboundResult> {
    const begin = performance.now();
    const result = await sending;
    expect(performance.now() - begin).toBeLessThan(3_000);
    return result;
  }
  const short = { deadlineMs: 400, maxBodyBytes: 64 * KIB, onExcess: "cut" } as const;

  test("ends the wait for a name server", async () => {
    const { servers } = await startNameServer(() => undefined);
    const result = await timed(
      sendRequest({ url: "http://silent.test/", ...short }, (host, signal) => resolveHost(host, signal, servers)),
    );
    expect(result).toEqual({ outcome: "unreachable", reason: "no name server responded in time", isTimeout: true });
  });

  test("is joined by a limit for connecting, which ends a TLS handshake that stalls", async () => {
    const url = await rawSite(() => undefined);
    const result = await timed(ask(url.replace("http:", "https:"), { deadlineMs: 30_000, connectMs: 300 }));
    expect(result).toEqual({
      outcome: "unreachable",
      reason: "the secure connection was not established in time",
      isTimeout: true,
    });
  });

  test("ends the wait for a missing response, unlike the time limit for connecting", async () => {
    const url = await rawSite(() => undefined);
    const result = await timed(ask(url, { ...short, deadlineMs: 800, connectMs: 50 }));
    expect(result).toEqual({ outcome: "unreachable", reason: "no response arrived in time", isTimeout: true });
  });

  test("is longer than the limit for connecting, which does not end a slow response", async () => {
    const { url } = await site((_req, res) => void setTimeout(() => res.end("late"), 600));
    const begin = performance.now();
    const result = await ask(url, { connectMs: 500 });
    expect(result).toMatchObject({ outcome: "answered" });
    if (result.outcome !== "answered") return;
    expect(result.timings.totalMs).toBeLessThanOrEqual(Math.ceil(performance.now() - begin));
  });

  test("leaves no timer running, which would keep a process from ending", async () => {
    const clocks = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const { url } = await site((_req, res) => res.end("done"));
    await ask(url);
    const before = clocks();
    await Promise.all(Array.from({ length: 20 }, () => ask(url, { deadlineMs: 60_000, connectMs: 60_000 })));
    expect(clocks() - before).toBeLessThan(10);
  });

  test("ends headers that arrive bit by bit", async () => {
    const url = await rawSite((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x-drip: a\r\n"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await timed(ask(url, short))).toMatchObject({ outcome: "unreachable", isTimeout: true });
  });

  test("ends interim responses without a final one", async () => {
    const url = await rawSite((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await timed(ask(url, short))).toMatchObject({ outcome: "unreachable", isTimeout: true });
  });

  test.each(["identity", "gzip"])("ends a body that arrives bit by bit (%s)", async (encoding) => {
    const { url } = await site((_req, res) => {
      res.setHeader("content-encoding", encoding).flushHeaders();
      const [begin, ...rest] = encoding === "gzip" ? gzipSync("a".repeat(100)) : Buffer.alloc(10_000, "a");
      res.write(Buffer.from([begin ?? 0]));
      const timer = setInterval(() => res.write(Buffer.from([rest.shift() ?? 0])), 50);
      res.on("close", () => clearInterval(timer));
    });
    const result = await timed(ask(url, short));
    expect(result).toEqual({ outcome: "unreachable", reason: "the response did not end in time", isTimeout: true });
  });

  test("ends a request that the other side does not read", async () => {
    const url = await rawSite((socket) => socket.pause());
    const result = await timed(ask(url, { ...short, method: "POST", body: Buffer.alloc(64 * MIB) }));
    expect(result).toMatchObject({ outcome: "unreachable", isTimeout: true });
  });

  test("leaves no connection behind", async () => {
    let closed = false;
    const url = await rawSite((socket) => void socket.on("close", () => (closed = true)).resume());
    await ask(url, short);
    await expect.poll(() => closed).toBe(true);
  });
});
