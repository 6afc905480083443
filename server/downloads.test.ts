import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sendDownload } from "./downloads.ts";
import { handleRequest } from "./handle-request.ts";

const ROOT = join(import.meta.dirname, "..");
let server: Server;
let origin: string;

beforeAll(async () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/setup.mjs", "--packages"], { cwd: ROOT, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  server = createServer((req, res) => handleRequest(async (_, page) => void page.writeHead(418).end(), req, res)).listen(0);
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 240_000);
afterAll(() => void server.close());

it.each(["sdk", "cli", "receiver"])("serves the tarball of the %s, and revalidates a copy by its tag", async (name) => {
  const path = `/downloads/keyhook-${name}.tgz`;
  const bytes = readFileSync(join(ROOT, `build/packages/keyhook-${name}.tgz`));
  const answer = await fetch(origin + path);
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  expect(answer.headers.get("content-type")).toBe("application/gzip");
  expect(answer.headers.get("cache-control")).toBe("public, no-cache");
  const etag = answer.headers.get("etag") as string;
  expect(etag).toBe(`"${createHash("sha256").update(bytes).digest("base64url")}"`);

  const head = await fetch(origin + path, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(bytes.length), ""]);
  const again = await fetch(origin + path, { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await fetch(origin + path, { headers: { "if-none-match": '"old"' } })).status).toBe(200);
});

it("serves no other file, and accepts no data", async () => {
  for (const path of [
    "/downloads",
    "/downloads/",
    "/downloads/.built",
    "/downloads/..%2f..%2f.env",
    "/downloads/keyhook-core.tgz",
  ]) {
    const answer = await fetch(origin + path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.json()).toMatchObject({ error_description: expect.stringContaining("keyhook-receiver.tgz") });
  }
  const posted = await fetch(`${origin}/downloads/keyhook-sdk.tgz`, { method: "POST", body: "x" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

it("says what to do if the packages were not built", async () => {
  const empty = createServer((req, res) => void sendDownload(req, res, "/downloads/keyhook-sdk.tgz", tmpdir())).listen(0);
  await once(empty, "listening");
  const answer = await fetch(`http://127.0.0.1:${(empty.address() as AddressInfo).port}/`);
  empty.close();
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ error_description: expect.stringContaining("npm run pack") });
});
