import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { provideSettings } from "../env.ts";
import type { OutboundRequest } from "./request.ts";
import { resolveHost } from "./resolve-host.ts";
import { sendRequest } from "./send-request.ts";
import { startNameServer } from "./testing/name-server.ts";
import { ask, KIB, MIB, rawSite, site, textOf } from "./testing/sites.ts";

beforeEach(() => void provideSettings({ OUTBOUND_ALLOW_CIDRS: "127.0.0.1" }));

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
    expect((dnsMs ?? 0) + (connectMs ?? 0) + firstByteMs).toBeLessThanOrEqual(totalMs + 3);
  });

  test("sends a User-Agent, requests no compression, and sends the chosen host", async () => {
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
    { headers: { "x-a": "\u0100" } },
    { headers: { "": "1" } },
    { headers: { Host: "another.example" } },
    { headers: { "content-length": "0" } },
    { headers: { "Transfer-Encoding": "chunked" } },
    { headers: { connection: "upgrade" } },
    { headers: { "Keep-Alive": "timeout=600" } },
    { headers: { expect: "100-continue" } },
    { headers: { te: "trailers" } },
    { headers: { trailer: "x-a" } },
    { headers: { upgrade: "h2c" } },
    { headers: { "Proxy-Authorization": "Basic eDp5" } },
    { headers: { "proxy-connection": "keep-alive" } },
  ])("S117 accepts no header that would inject another header or request: %j", async (more) => {
    const { url, seen } = await site((_req, res) => res.end());
    expect(await ask(url, more)).toMatchObject({ outcome: "blocked" });
    expect(seen.connections).toBe(0);
  });

  test("S117 has one request line, whatever its URL contains", async () => {
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

  test("has a reason for each kind of missing response", async () => {
    const closed = await rawSite((socket) => socket.destroy());
    const noHttp = await rawSite((socket) => socket.end("SSH-2.0-example\r\n"));
    const broken = await rawSite((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour"));
    const { url: unzipped } = await site((_req, res) => res.setHeader("content-encoding", "gzip").end("not compressed"));
    const reasons: [string, RegExp][] = [
      ["http://127.0.0.1:1/", /^the connection was refused$/],
      [closed, /closed/],
      [noHttp, /not valid HTTP/],
      [broken, /closed before the response was complete/],
      [unzipped, /cannot be decompressed/],
      ["https://127.0.0.1:1/", /^the connection was refused$/],
    ];
    for (const [url, reason] of reasons) {
      const result = await ask(url, { deadlineMs: 6_000 });
      expect(result, url).toMatchObject({ outcome: "unreachable", isTimeout: false, reason: expect.stringMatching(reason) });
    }
  });

  test("whose host has no address fails with that reason", async () => {
    const { servers } = await startNameServer(() => []);
    const result = await sendRequest(
      { url: "http://nobody.test/", deadlineMs: 5_000, maxBodyBytes: 10, onExcess: "cut" },
      (host, signal) => resolveHost(host, signal, servers),
    );
    expect(result).toEqual({ outcome: "unreachable", reason: "the name does not resolve", isTimeout: false });
  });

  test("S121 keeps headers whose names are properties of every object", async () => {
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

describe("S120 a body", () => {
  test("of exactly the limit stays whole, and a larger body is cut or fails", async () => {
    const { url } = await site((req, res) => res.end(Buffer.alloc(Number(req.url?.slice(1)), "a")));
    expect(await ask(`${url}/5120`)).toMatchObject({ outcome: "answered", isCut: false });
    expect(await ask(`${url}/5121`)).toEqual({
      outcome: "unreachable",
      reason: "the response is longer than 5,120 bytes",
      isTimeout: false,
    });
    const cut = await ask(`${url}/5121`, { onExcess: "cut" });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(textOf(cut)).toHaveLength(5120);
  });

  test.each(["fail", "cut"] as const)("that never ends is cut or fails, and its connection is closed (%s)", async (onExcess) => {
    let isClosed = false;
    const { url } = await site((_req, res) => {
      res.on("close", () => (isClosed = true));
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(64 * KIB)));
        if (!res.destroyed) res.once("drain", more);
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const result = await ask(url, { onExcess, maxBodyBytes: 64 * KIB, deadlineMs: 20_000 });
    expect(result).toMatchObject(onExcess === "cut" ? { outcome: "answered", isCut: true } : { outcome: "unreachable" });
    await expect.poll(() => isClosed).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  });

  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const compressions: [string, (bytes: Buffer) => Buffer][] = [
    ["gzip", (bytes) => gzipSync(bytes, { level: 1 })],
    ["deflate", (bytes) => deflateSync(bytes, { level: 1 })],
    ["br", (bytes) => brotliCompressSync(bytes, quick)],
  ];

  test.each(compressions)("S74 compressed as %s is read, and limited after decompression", async (encoding, compress) => {
    const bodies: Record<string, Buffer> = {
      "/small": compress(Buffer.from("words")),
      "/bomb": compress(Buffer.alloc(128 * MIB)),
    };
    const { url } = await site((req, res) => res.setHeader("content-encoding", encoding).end(bodies[req.url ?? ""]));
    expect(textOf(await ask(`${url}/small`))).toBe("words");
    const before = process.memoryUsage().rss;
    expect(await ask(`${url}/bomb`)).toMatchObject({ outcome: "unreachable", reason: "the response is longer than 5,120 bytes" });
    const cut = await ask(`${url}/bomb`, { onExcess: "cut", maxBodyBytes: 64 * KIB });
    expect(cut).toMatchObject({ outcome: "answered", isCut: true });
    expect(textOf(cut)).toHaveLength(64 * KIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * MIB);
  });

  test("compressed twice stays unchanged", async () => {
    const bytes = gzipSync(gzipSync("words"));
    const { url } = await site((_req, res) => res.setHeader("content-encoding", "gzip, gzip").end(bytes));
    const result = await ask(url);
    expect(result.outcome === "answered" && Buffer.compare(Buffer.from(result.body), bytes)).toBe(0);
  });
});

describe("S121 headers", () => {
  test("up to 32 KiB are kept, and larger headers make the request fail", async () => {
    const { url } = await site((req, res) => {
      res.setHeader("x-long", "a".repeat(Number(req.url?.slice(1)))).end();
    });
    const kept = await ask(`${url}/${31 * KIB}`);
    expect(kept.outcome === "answered" && kept.headers["x-long"]).toHaveLength(31 * KIB);
    const reason = "the headers of the response are longer than 32 KiB";
    expect(await ask(`${url}/${33 * KIB}`)).toEqual({ outcome: "unreachable", reason, isTimeout: false });
  });

  test("that never end make the request fail", async () => {
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

test("S132 S137 a request is abandoned if interim responses never end", async () => {
  const url = await rawSite((socket) => {
    const many = Buffer.from("HTTP/1.1 103 \r\n\r\n".repeat(4_000));
    const send = () => {
      while (!socket.destroyed && socket.write(many));
    };
    socket.on("error", () => undefined).on("drain", send);
    socket.once("data", send);
  });
  const reason = "the host sends too many interim responses";
  expect(await ask(url, { deadlineMs: 2_000 })).toMatchObject({ outcome: "unreachable", isTimeout: false, reason });
});

test("a few interim responses are skipped", async () => {
  const url = await rawSite((socket) => {
    socket.once("data", () =>
      socket.end(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
  });
  expect(textOf(await ask(url))).toBe("ok");
});

test.each([
  ["an extension of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"],
  ["empty lines", "", "\r\n"],
])("S137 a request is abandoned if the host sends %s without end", async (_, head, piece) => {
  const url = await rawSite((socket) => {
    const many = Buffer.from(piece.repeat(8_000));
    const send = () => {
      while (!socket.destroyed && socket.write(many));
    };
    socket.on("error", () => undefined).on("drain", send);
    socket.once("data", () => {
      socket.write(head);
      send();
    });
  });
  const reason = "the host sends far more than its response";
  expect(await ask(url, { deadlineMs: 2_000 })).toMatchObject({ outcome: "unreachable", isTimeout: false, reason });
});

test("S137 a request is abandoned if its response has thousands of tiny pieces", async () => {
  const chunked = (piece: string) =>
    rawSite((socket) => {
      const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
      const body = `${chunk.repeat(20_000)}0\r\n\r\n`;
      socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`));
    });
  const reason = "the host sends its response in too many pieces";
  const limits = { maxBodyBytes: 2 * MIB };
  expect(await ask(await chunked("x"), limits)).toMatchObject({ outcome: "unreachable", isTimeout: false, reason });
  expect(textOf(await ask(await chunked("x".repeat(100)), limits))).toHaveLength(2_000_000);
});
