import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isScriptless, removeScripts } from "./remove-scripts.ts";

const PAGE = `<!DOCTYPE html><head><link rel="preload" as="script" href="/a.js"/><link rel="stylesheet" href="/a.css"/></head>
<body><script nonce="x">self.x=["\\u003c/script>"]</script><p>&lt;script&gt; é</p><script src="/a.js" async=""></script></body>`;

const running: (() => void)[] = [];
afterEach(() => {
  for (const stop of running.splice(0)) stop();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer((req, res) => {
    removeScripts(req, res);
    answer(req, res);
  });
  running.push(() => server.close());
  await new Promise<void>((listening) => server.listen(0, listening));
  return `http://localhost:${(server.address() as AddressInfo).port}/interaction/x`;
}

test("a page that is written in pieces arrives whole and without its scripts", async () => {
  const bytes = Buffer.from(PAGE);
  const url = await serve((_req, res) => {
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    res.flushHeaders();
    const middle = bytes.indexOf("é") + 1;
    res.write(bytes.subarray(0, middle));
    res.end(bytes.subarray(middle));
  });
  const response = await fetch(url);
  const html = await response.text();
  expect(html).not.toMatch(/<script|\.js/);
  expect(html).toContain('<link rel="stylesheet" href="/a.css"/>');
  expect(html).toContain("<p>&lt;script&gt; é</p>");
  expect(response.headers.get("content-security-policy")).toContain("script-src 'none'");
  expect(response.headers.get("content-encoding")).toBe("gzip");
});

test("a head that is written before the page has correct headers", async () => {
  const url = await serve((_req, res) => {
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    // Like Next's compression, this writes the head first, after which new headers are lost.
    res.writeHead(410, { "X-Kept": "yes" });
    res.write(PAGE);
    res.end();
  });
  const response = await fetch(url);
  expect(response.status).toBe(410);
  expect(response.headers.get("x-kept")).toBe("yes");
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(await response.text()).not.toMatch(/<script|\.js/);
});

test("a browser that does not accept gzip gets an uncompressed page", async () => {
  const url = await serve((_req, res) => res.setHeader("Content-Type", "text/html").end(PAGE));
  const response = await fetch(url, { headers: { "accept-encoding": "identity" } });
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(await response.text()).toContain("<p>");
});

test("Next's router gets a whole document instead of data", async () => {
  let seen: IncomingHttpHeaders = {};
  const url = await serve((req, res) => {
    seen = req.headers;
    res.end();
  });
  await fetch(url, { headers: { rsc: "1", "next-router-state-tree": "x", "next-url": "/", "next-action": "x", cookie: "a=b" } });
  expect(Object.keys(seen).filter((name) => /^(rsc|next-)/.test(name))).toEqual([]);
  expect(seen.cookie).toBe("a=b");
});

test("a response that is not a page is unchanged", async () => {
  const url = await serve((_req, res) => res.setHeader("Content-Type", "application/json").end('{"a":"<script></script>"}'));
  expect(await (await fetch(url)).json()).toEqual({ a: "<script></script>" });
});

test.each([
  ["/interaction/x", true],
  ["/activate", true],
  ["/activate/confirm", true],
  ["/%61ctivate", true],
  ["/activate%2Fconfirm", true],
  ["/%69nteraction/x", true],
  ["/activated", false],
  ["/settings/applications", false],
])("%s is a page without scripts: %s", (path, isWithout) => {
  expect(isScriptless(path)).toBe(isWithout);
});
