import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyLimitOf } from "./body-limits.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

/** Sends JSON with a length, or in chunks without one. */
function send(path: string, bytes: number, isChunked: boolean): Promise<{ status: number; code: string }> {
  const body = Buffer.from(JSON.stringify({ name: "x".repeat(bytes) }));
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(!isChunked && { "content-length": String(body.length) }) };
    const req = request(world.origin + path, { method: "POST", headers, agent: false }, (res) => {
      text(res).then((answer) => resolve({ status: res.statusCode ?? 0, code: JSON.parse(answer).code }), reject);
    });
    req.on("error", reject);
    for (let at = 0; at < body.length; at += 16_384) req.write(body.subarray(at, at + 16_384));
    req.end();
  });
}

describe("S138 a body larger than its address takes is refused, whether or not its length is told", () => {
  test.each([true, false])("in chunks: %s", async (isChunked) => {
    const refused = { status: 413, code: "payload_too_large" };
    expect(await send("/api/models/ada/tide/unknown", 66_000, isChunked)).toEqual(refused);
    expect(await send("/api/repos/create", 17 * 1024 * 1024, isChunked)).toEqual(refused);
    // Not too large for its address, and then refused for want of a token.
    expect(await send("/api/repos/create", 66_000, isChunked)).toEqual({ status: 401, code: "unauthorized" });
    expect(await send("/api/repos/create", 10, isChunked)).toEqual({ status: 401, code: "unauthorized" });
  });
});

test("S138 each kind of address has its own limit, and transfers theirs elsewhere", () => {
  expect(bodyLimitOf("/ada/tide.git/git-receive-pack").maxBytes).toBeNull();
  expect(bodyLimitOf("/datasets/ada/tide/git-upload-pack").maxBytes).toBeNull();
  expect(bodyLimitOf("/ada/tide.git/info/lfs/objects/batch").maxBytes).toBe(1024 * 1024);
  expect(bodyLimitOf("/api/models/ada/tide/commit/main").isStreamed).toBe(true);
  expect(bodyLimitOf("/api/models/ada/tide/commit").maxBytes).toBe(64 * 1024);
  expect(bodyLimitOf("/api/whoami-v2").maxBytes).toBe(64 * 1024);
  expect(bodyLimitOf("/api/models/ada/git-receive-pack").maxBytes).toBe(64 * 1024);
});
