import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { forwardTo } from "./forward-to.ts";
import type { RelayedRequest } from "./relayed-request.ts";

type Seen = { method: string | undefined; url: string | undefined; headers: IncomingMessage["headers"]; body: Buffer };

async function startServer(answer: RequestListener): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      seen.push({ method: req.method, url: req.url, headers: req.headers, body: Buffer.concat(pieces) });
      answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const request = (more: Partial<RelayedRequest> = {}): RelayedRequest => ({
  id: "1",
  method: "POST",
  path: "/",
  headers: [],
  body: new Uint8Array(),
  receivedAt: new Date(),
  isFromInbox: false,
  ...more,
});

test("the server gets the body byte for byte with its headers, and the whole response is returned", async () => {
  const { url, seen } = await startServer((_, res) => res.writeHead(202, { "X-Answer": "yes" }).end(Buffer.from([0, 255, 10])));
  const body = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31) % 256);
  const headers: RelayedRequest["headers"] = [
    ["host", "hub.example.com"],
    ["content-type", "application/x-odd"],
    ["x-twice", "a"],
    ["x-twice", "b"],
    ["connection", "close"],
    ["transfer-encoding", "chunked"],
  ];
  const answer = await forwardTo(url)(request({ path: "/a//b%2F?c=%20", headers, body }));
  expect(seen).toMatchObject([{ method: "POST", url: "/a//b%2F?c=%20" }]);
  expect(seen[0]?.body.equals(body)).toBe(true);
  expect(seen[0]?.headers).toMatchObject({ "content-type": "application/x-odd", "x-twice": "a, b", host: new URL(url).host });
  expect(answer).toMatchObject({ status: 202, body: Uint8Array.of(0, 255, 10) });
  expect(answer.headers).toContainEqual(["x-answer", "yes"]);
});

test("a request's path follows the path of the server's URL, and leads to no other host", async () => {
  const { url, seen } = await startServer((_, res) => res.end());
  for (const path of ["/", "/x?y=1", "//evil.example/z", "/@evil.example", "/\\evil.example"]) {
    await forwardTo(`${url}/hooks`)(request({ path }));
  }
  expect(seen.map(({ url: asked }) => asked)).toEqual([
    "/hooks",
    "/hooks/x?y=1",
    "/hooks//evil.example/z",
    "/hooks/@evil.example",
    "/hooks//evil.example",
  ]);
  expect(() => forwardTo("file:///etc/passwd")).toThrow(TypeError);
});

test("no request leaves the given path of the server", async () => {
  const { url, seen } = await startServer((_, res) => res.end());
  for (const path of [
    "/..",
    "/../admin",
    "/x/../../admin",
    "/%2e%2e/admin",
    "/.%2E/admin?x=1",
    "/..\\admin",
    "/../hooksome",
    "/..%2fadmin",
    "/x%2F%2e%2e%5C..%2fadmin",
    "/x%2f%2f..%2f..%2fadmin",
    "/..;/admin",
    "/..%3Bx=1/admin",
  ]) {
    expect(await forwardTo(`${url}/hooks`)(request({ path })), path).toMatchObject({ status: 400 });
  }
  expect(seen).toEqual([]);
  await forwardTo(`${url}/hooks`)(request({ path: "/x/../y?z=../.." }));
  await forwardTo(url)(request({ path: "/x/../y" }));
  expect(seen.map(({ url: asked }) => asked)).toEqual(["/hooks/y?z=../..", "/y"]);
});

test("a redirect is not followed, and a decompressed response has no Content-Encoding", async () => {
  const { url, seen } = await startServer((req, res) => {
    if (req.url === "/moved") return res.writeHead(302, { Location: "/elsewhere" }).end();
    return res.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("plain"));
  });
  expect(await forwardTo(url)(request({ path: "/moved" }))).toMatchObject({ status: 302 });
  const answer = await forwardTo(url)(request({ method: "GET" }));
  expect(new TextDecoder().decode(answer.body as Uint8Array)).toBe("plain");
  expect(JSON.stringify(answer.headers)).not.toContain("content-encoding");
  expect(seen).toHaveLength(2);
});

test("if the server does not respond, the result is a failure that is retried", async () => {
  const { url } = await startServer(() => undefined);
  expect(await forwardTo(url, { timeoutMs: 50 })(request())).toMatchObject({ status: 504 });
  expect(await forwardTo("http://127.0.0.1:1")(request())).toMatchObject({ status: 502 });
});
