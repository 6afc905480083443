import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { provideSettings } from "../env.ts";
import { checkPeer } from "./open-connection.ts";
import type { OutboundRequest, OutboundResult } from "./request.ts";
import { resolveHost } from "./resolve-host.ts";
import { sendRequest } from "./send-request.ts";
import { startNameServer } from "./testing/name-server.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));

const ask = (url: string, more: Partial<OutboundRequest> = {}) =>
  sendRequest({ url, deadlineMs: 10_000, maxBodyBytes: 5 * KIB, onExcess: "fail", ...more });

async function listening(server: Server, host = "127.0.0.1", port = 0): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket.on("error", () => undefined));
  });
  server.listen(port, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTP server; `connections` counts who came, whatever became of it. */
async function site(answer: RequestListener, host?: string, port?: number) {
  const server = createHttpServer(answer);
  const seen = { connections: 0 };
  server.on("connection", () => void seen.connections++);
  const bound = await listening(server, host, port);
  return { seen, port: bound, url: `http://${host ?? "127.0.0.1"}:${bound}` };
}

/** A server that says what it likes, whatever it is asked. */
async function rawSite(talk: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(talk))}`;
}

const textOf = (result: OutboundResult) => (result.outcome === "answered" ? Buffer.from(result.body).toString() : undefined);

describe("a request", () => {
  test("is answered with status, headers, body and times", async () => {
    const { url } = await site((req, res) => {
      res.setHeader("x-twice", ["one", "two"]).writeHead(418);
      req.pipe(res);
    });
    const sent = await ask(`${url}/path?query#fragment`, { method: "POST", body: "what was sent" });
    expect(sent).toMatchObject({ outcome: "answered", status: 418, isCut: false, headers: { "x-twice": "one, two" } });
    expect(textOf(sent)).toBe("what was sent");
    if (sent.outcome !== "answered") return;
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = sent.timings;
    expect(tlsMs).toBeNull();
    for (const each of [dnsMs, connectMs, firstByteMs]) expect(each).toBeGreaterThanOrEqual(0);
    expect(dnsMs + connectMs + firstByteMs).toBeLessThanOrEqual(totalMs + 3);
  });

  test("says who is asking, asks for no compression, and names the host as it was chosen", async () => {
    const { url, port } = await site((req, res) => res.end(JSON.stringify({ ...req.headers, path: req.url })));
    const sent = await ask(`http://LOCALHOST.:${port}/a%20b?c=d#e`);
    expect(JSON.parse(textOf(sent) ?? "")).toMatchObject({
      host: `localhost:${port}`,
      "user-agent": `Keyhook/${packageJson.version}`,
      "accept-encoding": "identity",
      path: "/a%20b?c=d",
    });
    const other = await ask(url, { headers: { "User-Agent": "another/1", "X-Own": "value" } });
    expect(JSON.parse(textOf(other) ?? "")).toMatchObject({ "user-agent": "another/1", "x-own": "value" });
  });

  test.each<Pick<OutboundRequest, "headers">>([
    { headers: { "x-a": "1\r\nx-b: 2" } },
    { headers: { "x-a": "1\nx-b: 2" } },
    { headers: { "x-a": "\0" } },
    { headers: { "x-a\r\nx-b": "1" } },
    { headers: { "x a": "1" } },
    { headers: { Host: "another.example" } },
    { headers: { "content-length": "0" } },
    { headers: { "Transfer-Encoding": "chunked" } },
    { headers: { connection: "upgrade" } },
  ])("S117 takes no header that would begin another one or another request: %j", async (more) => {
    const { url, seen } = await site((_req, res) => res.end());
    expect(await ask(url, more)).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
  });

  test("S117 has one request line, whatever its address holds", async () => {
    let heard = "";
    const url = await rawSite((socket) => {
      socket.on("data", (bytes) => {
        heard += bytes;
        socket.end("HTTP/1.1 204 No Content\r\n\r\n");
      });
    });
    await ask(`${url}/a\r\nx-injected: 1\r\n\r\nGET /b HTTP/1.1`);
    expect(heard.split("\r\n")[0]).toBe("GET /ax-injected:%201GET%20/b%20HTTP/1.1 HTTP/1.1");
    expect(heard).not.toMatch(/^x-injected/im);
  });

  test("has a reason for each way in which nobody answers", async () => {
    const closed = await rawSite((socket) => socket.destroy());
    const noHttp = await rawSite((socket) => socket.end("SSH-2.0-example\r\n"));
    const broken = await rawSite((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour"));
    const { url: unzipped } = await site((_req, res) => res.setHeader("content-encoding", "gzip").end("not compressed"));
    const reasons: [string, RegExp][] = [
      ["http://127.0.0.1:1/", /^the connection was refused$/],
      [closed, /closed/],
      [noHttp, /not the HTTP/],
      [broken, /closed before the answer was complete/],
      [unzipped, /cannot be decompressed/],
      ["https://127.0.0.1:1/", /^the connection was refused$/],
    ];
    for (const [url, reason] of reasons) {
      const result = await ask(url, { deadlineMs: 6_000 });
      expect(result, url).toMatchObject({ outcome: "unreachable", isTimeout: false, reason: expect.stringMatching(reason) });
    }
  });

  test("whose host has no address says so", async () => {
    const { servers } = await startNameServer(() => []);
    const result = await sendRequest(
      { url: "http://nobody.test/", deadlineMs: 5_000, maxBodyBytes: 10, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(result).toEqual({ outcome: "unreachable", reason: "the name does not resolve", isTimeout: false });
  });

  test("S121 keeps names of headers that objects have already", async () => {
    const url = await rawSite((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ncontent-length: 0\r\n\r\n"));
    });
    const result = await ask(url);
    expect(result).toMatchObject({ outcome: "answered" });
    if (result.outcome !== "answered") return;
    expect(Object.entries(result.headers)).toContainEqual(["constructor", "b"]);
    expect(Object.getPrototypeOf(result.headers)).toBe(Object.prototype);
  });
});

describe("an address that is not allowed", () => {
  const spellings = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "127.0.0.1..",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "any.name.localhost",
    "ｌｏｃａｌｈｏｓｔ",
    "localhost。",
  ];

  test.each(spellings)("S77 S118 is refused before any connection: %s", async (host) => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "" });
    const probe = await site((_req, res) => res.end("the inside"));
    const result = await ask(`http://${host}:${probe.port}/`);
    expect(result).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
    await delay(20);
    expect(probe.seen.connections).toBe(0);
  });

  test.each([
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://a b/",
    "//host/",
    "path",
    "",
    "http://",
    "http://...",
  ])("S118 is no address at all: %j", async (url) => {
    expect((await ask(url)).outcome).not.toBe("answered");
  });

  test.each(["ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1/", "data:text/plain,a", "unix:/run/docker.sock"])(
    "S117 is one of another scheme: %s",
    async (url) => {
      expect(await ask(url)).toMatchObject({ outcome: "blocked" });
    },
  );

  test("S117 holds a password, is plain http where https is asked for, or has another port", async () => {
    const { url, seen, port } = await site((_req, res) => res.end());
    expect(await ask(url.replace("//", "//user:password@"))).toMatchObject({ outcome: "blocked" });
    expect(await ask(url, { isHttpsRequired: true })).toMatchObject({
      outcome: "blocked",
      reason: expect.stringContaining("https"),
    });
    expect(await ask(url, { ports: [443] })).toEqual({ outcome: "blocked", reason: `port ${port} is not allowed here` });
    expect(await ask("https://8.8.8.8:8443/", { ports: [443] })).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
    expect(await ask(url, { ports: [443, port] })).toMatchObject({ outcome: "answered" });
  });

  test("S78 has the port of its scheme when it names none", async () => {
    const { reason } = (await ask("http://8.8.8.8/", { ports: [443] })) as { reason: string };
    expect(reason).toBe("port 80 is not allowed here");
  });
});

describe("a name", () => {
  test("S117 of which any address is forbidden is refused before any connection", async () => {
    const { port, seen } = await site((_req, res) => res.end());
    for (const bad of ["10.0.0.5", "169.254.169.254", "fd00::1", "::ffff:10.0.0.5", "::1"]) {
      const { servers } = await startNameServer((_name, family) =>
        [...(family === 4 ? ["127.0.0.1"] : []), bad].filter((address) => address.includes(":") === (family === 6)),
      );
      const result = await sendRequest(
        { url: `http://site.test:${port}/`, deadlineMs: 5_000, maxBodyBytes: 10, onExcess: "cut" },
        (host, signal) => resolveHost(host, signal, servers),
      );
      expect(result, bad).toEqual({ outcome: "blocked", reason: "the host is not on the public internet" });
      // The person learns nothing of what is inside.
      expect(JSON.stringify(result)).not.toContain(bad);
    }
    expect(seen.connections).toBe(0);
  });

  test("S77 S117 whose answer flips between the check and the connection leads where it was checked", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.2" });
    const vetted = await site((req, res) => res.end(`vetted ${req.headers.host}`), "127.0.0.2");
    const inside = await site((_req, res) => res.end("inside"), "127.0.0.1", vetted.port);
    let asked = 0;
    const { servers, questions } = await startNameServer((_name, family) =>
      family === 6 ? [] : [asked++ === 0 ? "127.0.0.2" : "127.0.0.1"],
    );
    const result = await sendRequest(
      { url: `http://flips.test:${vetted.port}/`, deadlineMs: 5_000, maxBodyBytes: 100, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(textOf(result)).toBe(`vetted flips.test:${vetted.port}`);
    expect(questions.sort()).toEqual(["flips.test A", "flips.test AAAA"]);
    expect(inside.seen.connections).toBe(0);
  });

  test("S117 whose connection ends at another address than the vetted one is given up", async () => {
    const accepted = createServer();
    const port = await listening(accepted);
    for (const [allowed, vetted] of [
      ["127.0.0.1", ["8.8.8.8"]],
      ["", ["127.0.0.1"]],
    ] as const) {
      provideSettings({ OUTBOUND_ALLOW_CIDRS: allowed });
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      expect(() => checkPeer(socket, [...vetted])).toThrow("the connection led to another address");
      expect(socket.destroyed).toBe(true);
    }
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    checkPeer(socket, ["::ffff:127.0.0.1"]);
    socket.destroy();
  });

  test("is tried at its next address when the first does not answer", async () => {
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" });
    const { port } = await site((_req, res) => res.end("second"));
    const { servers } = await startNameServer((_name, family) => (family === 4 ? ["127.0.0.9", "127.0.0.1"] : []));
    const result = await sendRequest(
      { url: `http://two.test:${port}/`, deadlineMs: 8_000, maxBodyBytes: 100, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(textOf(result)).toBe("second");
  });
});

describe("S119 loopback", () => {
  test("is reached by OUTBOUND_ALLOW_CIDRS only, and by the address that it names", async () => {
    const { url, port, seen } = await site((_req, res) => res.end());
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8" });
    expect(await ask(url)).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
    provideSettings({ OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8,127.0.0.0/8" });
    expect(await ask(url)).toMatchObject({ outcome: "answered" });
    expect(await ask(`http://app.localhost:${port}/`)).toMatchObject({ outcome: "answered" });
  });
});

describe("S117 a redirect", () => {
  test.each([301, 302, 303, 307, 308])("%d is an answer, and is not followed", async (status) => {
    const inside = await site((_req, res) => res.end("inside"));
    const { url } = await site((_req, res) => res.writeHead(status, { location: inside.url }).end());
    expect(await ask(url)).toMatchObject({ outcome: "answered", status, headers: { location: inside.url } });
    expect(inside.seen.connections).toBe(0);
  });
});

describe("S76 S120 one deadline", () => {
  /** The result and how long it took: never much longer than the deadline. */
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
    expect(result).toEqual({ outcome: "unreachable", reason: "no name server answered in time", isTimeout: true });
  });

  test("ends a TLS handshake that stalls, by the time for connecting", async () => {
    const url = await rawSite(() => undefined);
    const result = await timed(ask(url.replace("http:", "https:"), { deadlineMs: 30_000, connectMs: 300 }));
    expect(result).toEqual({ outcome: "unreachable", reason: "the secure connection was not made in time", isTimeout: true });
  });

  test("ends the wait for an answer that does not come, which the time for connecting does not", async () => {
    const url = await rawSite(() => undefined);
    const result = await timed(ask(url, { ...short, deadlineMs: 800, connectMs: 50 }));
    expect(result).toEqual({ outcome: "unreachable", reason: "no answer came in time", isTimeout: true });
  });

  test("ends headers that drip", async () => {
    const url = await rawSite((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x-drip: a\r\n"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await timed(ask(url, short))).toMatchObject({ outcome: "unreachable", isTimeout: true });
  });

  test("ends announcements of an answer that never comes", async () => {
    const url = await rawSite((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 10);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await timed(ask(url, short))).toMatchObject({ outcome: "unreachable", isTimeout: true });
  });

  test.each(["identity", "gzip"])("ends a body that drips (%s)", async (encoding) => {
    const { url } = await site((_req, res) => {
      res.setHeader("content-encoding", encoding).flushHeaders();
      const [begin, ...rest] = encoding === "gzip" ? gzipSync("a".repeat(100)) : Buffer.alloc(10_000, "a");
      res.write(Buffer.from([begin ?? 0]));
      const timer = setInterval(() => res.write(Buffer.from([rest.shift() ?? 0])), 50);
      res.on("close", () => clearInterval(timer));
    });
    const result = await timed(ask(url, short));
    expect(result).toEqual({ outcome: "unreachable", reason: "the answer did not end in time", isTimeout: true });
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

describe("S120 a body", () => {
  test("of exactly the limit is whole; one byte more is cut, or fails", async () => {
    const { url } = await site((req, res) => res.end(Buffer.alloc(Number(req.url?.slice(1)), "a")));
    expect(await ask(`${url}/5120`)).toMatchObject({ outcome: "answered", isCut: false });
    expect(await ask(`${url}/5121`)).toEqual({
      outcome: "unreachable",
      reason: "the answer is longer than 5120 bytes",
      isTimeout: false,
    });
    const cut = await ask(`${url}/5121`, { onExcess: "cut" });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(textOf(cut)).toHaveLength(5120);
  });

  test.each(["fail", "cut"] as const)("without end is left off (%s)", async (onExcess) => {
    const { url } = await site((_req, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(64 * KIB)));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const result = await ask(url, { onExcess, maxBodyBytes: 64 * KIB, deadlineMs: 20_000 });
    expect(result).toMatchObject(onExcess === "cut" ? { outcome: "answered", isCut: true } : { outcome: "unreachable" });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  });

  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const compressions: [string, (bytes: Buffer) => Buffer][] = [
    ["gzip", (bytes) => gzipSync(bytes, { level: 1 })],
    ["deflate", (bytes) => deflateSync(bytes, { level: 1 })],
    ["br", (bytes) => brotliCompressSync(bytes, quick)],
  ];

  test.each(compressions)("S74 that comes as %s is read, and counted after inflation", async (encoding, compress) => {
    const bodies: Record<string, Buffer> = {
      "/small": compress(Buffer.from("words")),
      "/bomb": compress(Buffer.alloc(128 * MIB)),
    };
    const { url } = await site((req, res) => res.setHeader("content-encoding", encoding).end(bodies[req.url ?? ""]));
    expect(textOf(await ask(`${url}/small`))).toBe("words");
    const before = process.memoryUsage().rss;
    expect(await ask(`${url}/bomb`)).toMatchObject({ outcome: "unreachable", reason: "the answer is longer than 5120 bytes" });
    const cut = await ask(`${url}/bomb`, { onExcess: "cut", maxBodyBytes: 64 * KIB });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(textOf(cut)).toHaveLength(64 * KIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * MIB);
  });

  test("in an encoding that nobody asked for stays as it came", async () => {
    const bytes = gzipSync(gzipSync("words"));
    const { url } = await site((_req, res) => res.setHeader("content-encoding", "gzip, gzip").end(bytes));
    const result = await ask(url);
    expect(result.outcome === "answered" && Buffer.compare(Buffer.from(result.body), bytes)).toBe(0);
  });
});

describe("S121 headers", () => {
  test("of 32 KiB are kept, and more of them fail", async () => {
    const { url } = await site((req, res) => {
      res.setHeader("x-long", "a".repeat(Number(req.url?.slice(1)))).end();
    });
    const kept = await ask(`${url}/${31 * KIB}`);
    expect(kept.outcome === "answered" && kept.headers["x-long"]).toHaveLength(31 * KIB);
    const reason = "the headers of the answer are longer than 32 KiB";
    expect(await ask(`${url}/${33 * KIB}`)).toEqual({ outcome: "unreachable", reason, isTimeout: false });
  });

  test("without end are left off", async () => {
    const url = await rawSite((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write(`x-${"a".repeat(500)}: b\r\n`));
        if (!socket.destroyed) socket.once("drain", more);
      };
      more();
    });
    expect(await ask(url)).toMatchObject({ outcome: "unreachable", isTimeout: false, reason: expect.stringContaining("32 KiB") });
  });
});
