import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { provideSettings } from "../env.ts";
import { closeKeptConnections } from "./kept-connections.ts";
import { failureOf, type OutboundRequest, type OutboundResult } from "./request.ts";
import { rememberAddresses } from "./resolve-host.ts";
import { sendRequest } from "./send-request.ts";
import { listening, site } from "./testing/sites.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" }));
afterEach(closeKeptConnections);

const post = (url: string, resolve?: Parameters<typeof sendRequest>[1], more: Partial<OutboundRequest> = {}) =>
  sendRequest(
    { url, method: "POST", body: "{}", deadlineMs: 5_000, maxBodyBytes: 10, onExcess: "cut", isConnectionKept: true, ...more },
    resolve,
  );
const reused = (result: OutboundResult) => (result.outcome === "answered" ? result.isReused : result);

describe("connections that are kept", () => {
  test("carry one request after another, unless a response was truncated", async () => {
    const { url, seen } = await site((req, res) => res.end(req.url === "/long" ? "a".repeat(100_000) : "ok"));
    const first = await post(url);
    expect(first).toMatchObject({ outcome: "answered", isReused: false, timings: { connectMs: expect.any(Number) } });
    const second = await post(url);
    expect(second).toMatchObject({ isReused: true, timings: { dnsMs: null, connectMs: null, tlsMs: null } });
    expect(seen.connections).toBe(1);
    expect(await post(`${url}/long`)).toMatchObject({ isReused: true, isCut: true });
    expect(reused(await post(url))).toBe(false);
    expect(seen.connections).toBe(2);
  });

  test("are never shared by simultaneous requests", async () => {
    const ports: (number | undefined)[] = [];
    const { url, seen } = await site((req, res) => {
      ports.push(req.socket.remotePort);
      setTimeout(() => res.end("ok"), 30);
    });
    const results = await Promise.all(Array.from({ length: 5 }, () => post(url)));
    expect(results.map(reused)).toEqual([false, false, false, false, false]);
    expect(seen.connections).toBe(5);
    ports.length = 0;
    expect((await Promise.all(Array.from({ length: 5 }, () => post(url)))).map(reused)).toEqual([true, true, true, true, true]);
    expect(seen.connections).toBe(5);
    expect(new Set(ports).size).toBe(5);
    closeKeptConnections();
    expect(reused(await post(url))).toBe(false);
  });

  test("serve one request at a time, so that another request gets another connection", async () => {
    const { url, seen } = await site((_req, res) => void setTimeout(() => res.end("ok"), 30));
    await post(url);
    expect((await Promise.all([post(url), post(url)])).map(reused).sort()).toEqual([false, true]);
    expect(seen.connections).toBe(2);
  });

  test("are 256 at most, and all are closed when the process ends", async () => {
    const open = new Set<Socket>();
    const asked: ServerResponse[] = [];
    const server = createHttpServer({ keepAliveTimeout: 60_000 }, (_req, res) => {
      if (asked.push(res) === 257) for (const each of asked) each.end("ok");
    });
    server.on("connection", (socket: Socket) => void open.add(socket.on("close", () => open.delete(socket))));
    const url = `http://127.0.0.1:${await listening(server)}`;
    const results = await Promise.all(Array.from({ length: 257 }, () => post(url, undefined, { deadlineMs: 20_000 })));
    expect(new Set(results.map(reused))).toEqual(new Set([false]));
    await expect.poll(() => open.size).toBe(256);
    closeKeptConnections();
    await expect.poll(() => open.size).toBe(0);
  });

  test("S137 are closed at once when their host keeps sending bytes that the parser skips", async () => {
    const many = Buffer.from("\r\n".repeat(8_000));
    const sockets: Socket[] = [];
    const port = await listening(
      createServer((socket) => {
        sockets.push(socket.on("error", () => undefined));
        const send = () => {
          while (!socket.destroyed && socket.write(many));
        };
        socket.on("drain", send).once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\nok");
          setTimeout(send, 100);
        });
      }),
    );
    await post(`http://127.0.0.1:${port}`);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    await expect.poll(() => sockets.map(({ destroyed }) => destroyed), { timeout: 3_000 }).toEqual([true]);
  });

  test("that break off are reported as stale only if they were reused and no part of the response had arrived", async () => {
    let answers: string[] = [];
    const port = await listening(createServer((socket) => void socket.on("data", () => socket.end(answers.shift() ?? ""))));
    const url = `http://127.0.0.1:${port}`;
    const fresh = await post(url);
    expect(fresh).toMatchObject({ outcome: "unreachable", isTimeout: false });
    expect(fresh).not.toHaveProperty("isStale");

    answers = ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "HTTP/1.1 200"];
    const lively = await listening(
      createServer((socket) => {
        socket.on("data", () => {
          socket.write(answers.shift() ?? "");
          if (answers.length === 0) socket.end();
        });
      }),
    );
    expect(reused(await post(`http://127.0.0.1:${lively}`))).toBe(false);
    const begun = await post(`http://127.0.0.1:${lively}`);
    expect(begun).toMatchObject({ outcome: "unreachable" });
    expect(begun).not.toHaveProperty("isStale");
  });

  test("S117 are reused only for addresses that were vetted for the current request", async () => {
    const { url, seen } = await site((_req, res) => res.end("ok"));
    expect(reused(await post(url))).toBe(false);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.2" });
    expect(await post(url)).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
    expect(seen.connections).toBe(1);
  });

  test("S117 are not reused for a name that now resolves elsewhere, or that also has a forbidden address", async () => {
    const here = await site((_req, res) => res.end("here"), "127.0.0.1");
    const there = await site((_req, res) => res.end("there"), "127.0.0.2", here.port);
    const name = `http://hooks.example.test:${here.port}`;
    expect(reused(await post(name, async () => ["127.0.0.1"]))).toBe(false);
    expect(reused(await post(name, async () => ["127.0.0.1"]))).toBe(true);
    expect(reused(await post(name, async () => ["127.0.0.2"]))).toBe(false);
    expect([here.seen.connections, there.seen.connections]).toEqual([1, 1]);
    expect(await post(name, async () => ["127.0.0.1", "10.0.0.1"])).toMatchObject({ outcome: "blocked" });
    expect(reused(await post(`http://other.example.test:${here.port}`, async () => ["127.0.0.1"]))).toBe(false);
  });

  test("that end before the response are reported as stale, and the request is not sent again", async () => {
    let requests = 0;
    const port = await listening(
      createServer((socket) => {
        let seen = 0;
        socket.on("data", () => {
          requests++;
          // The second request on a connection finds that the server is gone.
          if (++seen > 1) socket.destroy();
          else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        });
      }),
    );
    const url = `http://127.0.0.1:${port}`;
    await Promise.all([post(url), post(url)]);
    expect(await post(url)).toMatchObject({ outcome: "unreachable", isTimeout: false, isStale: true });
    expect(requests).toBe(3);
    expect(reused(await post(url))).toBe(false);
    expect(await post(url, undefined, { isConnectionKept: false })).toMatchObject({ outcome: "answered", isReused: false });
  });

  test("are not reused if the other side closes them after its response", async () => {
    const { url, seen } = await site((_req, res) => res.setHeader("connection", "close").end("ok"));
    expect([reused(await post(url)), reused(await post(url))]).toEqual([false, false]);
    expect(seen.connections).toBe(2);
  });
});

test("addresses are cached for their TTL, unlike failures, and callers share one lookup", async () => {
  let lookups = 0;
  const finding = (seconds: number) => async (host: string) => {
    lookups++;
    if (host.startsWith("gone")) throw new Error("the name does not resolve");
    return { addresses: ["192.0.2.1"], seconds };
  };
  const { signal } = new AbortController();
  const names = await Promise.all(["a.test", "a.test", "a.test"].map((host) => rememberAddresses(host, signal, finding(60))));
  expect(names).toEqual([["192.0.2.1"], ["192.0.2.1"], ["192.0.2.1"]]);
  await rememberAddresses("a.test", signal, finding(60));
  expect(lookups).toBe(1);
  for (let time = 0; time < 2; time++) await rememberAddresses("changes.test", signal, finding(0));
  expect(lookups).toBe(3);
  for (let time = 0; time < 2; time++)
    await expect(rememberAddresses("gone.test", signal, finding(60))).rejects.toThrow("resolve");
  expect(lookups).toBe(5);
  await expect(rememberAddresses("b.test", AbortSignal.abort(new Error("too late")), finding(60))).rejects.toThrow("too late");
});

test("the last thousand names are cached, for at most five seconds whatever the name server's TTL", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lookups: string[] = [];
  const find = async (host: string) => {
    lookups.push(host);
    return { addresses: ["192.0.2.1"], seconds: 86_400 };
  };
  const { signal } = new AbortController();
  const names = Array.from({ length: 1_000 }, (_, at) => `n${at}.test`);
  for (const name of ["first.test", ...names]) await rememberAddresses(name, signal, find);
  lookups.length = 0;
  for (const name of ["n999.test", "n1.test", "first.test"]) await rememberAddresses(name, signal, find);
  expect(lookups).toEqual(["first.test"]);
  vi.advanceTimersByTime(4_999);
  await rememberAddresses("n999.test", signal, find);
  expect(lookups).toEqual(["first.test"]);
  vi.advanceTimersByTime(1);
  await rememberAddresses("n999.test", signal, find);
  expect(lookups).toEqual(["first.test", "n999.test"]);
});

test("a request that is aborted during a lookup stops waiting, while other requests still get the result", async () => {
  const { promise: found, resolve } = Promise.withResolvers<{ addresses: string[]; seconds: number }>();
  const hurried = new AbortController();
  const [first, second] = [hurried.signal, new AbortController().signal].map((signal) =>
    rememberAddresses("slow.test", signal, () => found),
  );
  hurried.abort(new Error("out of time"));
  await expect(first).rejects.toThrow("out of time");
  resolve({ addresses: ["192.0.2.7"], seconds: 1 });
  expect(await second).toEqual(["192.0.2.7"]);
});

test("a lookup that takes too long fails for all callers that wait for it", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const silent = (_host: string, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { signal } = new AbortController();
  const waiting = Promise.allSettled([1, 2].map(() => rememberAddresses("silent.test", signal, silent)));
  await vi.advanceTimersByTimeAsync(5_000);
  for (const each of await waiting) {
    expect(failureOf(each.status === "rejected" && each.reason).result).toMatchObject({
      outcome: "unreachable",
      isTimeout: true,
    });
  }
});

test("a certificate that is refused for an unlisted reason is a failure of the other side", () => {
  for (const code of ["UNSPECIFIED", "PATH_LENGTH_EXCEEDED", "ERROR_IN_CERT_NOT_AFTER_FIELD", "ERR_OSSL_X509_INVALID"]) {
    expect(failureOf(Object.assign(new Error(code), { code })).result).toMatchObject({
      outcome: "unreachable",
      reason: "no secure connection could be established",
    });
  }
});
