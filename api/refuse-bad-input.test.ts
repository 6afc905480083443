import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { bodyLimitOf } from "./body-limits.ts";
import { somebodyWithToken } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const MIB = 1024 * 1024;

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
    expect(await send("/api/validate-yaml", 3 * MIB, isChunked)).toEqual(refused);
    // Not too large for its address, and then refused for want of a token.
    expect(await send("/api/repos/create", 66_000, isChunked)).toEqual({ status: 401, code: "unauthorized" });
    expect(await send("/api/repos/create", 10, isChunked)).toEqual({ status: 401, code: "unauthorized" });
  });
});

/** Begins to send a body of `length` and leaves it there. @returns what was answered, or nothing as long as the rest is waited for */
async function begin(path: string, length: number, headers: Record<string, string> = {}) {
  const req = request(world.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": String(length), ...headers },
    agent: false,
  });
  open.push(req);
  req.on("error", () => undefined);
  const answered = once(req, "response").then(async ([res]) => ({ status: res.statusCode, headers: res.headers }));
  req.write(Buffer.alloc(Math.min(length, 1_000), " "));
  return Promise.race([answered, delay(300)]);
}

const open: ClientRequest[] = [];
afterEach(() => {
  for (const req of open.splice(0)) req.destroy();
});

test("S138 a large body is not waited for where it takes a token that did not come", async () => {
  const before = bodyBudget.takenBytes;
  expect(await begin("/api/repos/create", 15 * MIB)).toMatchObject({ status: 401 });
  expect(await begin("/api/repos/create", 15 * MIB, { authorization: "Bearer hf_unknown" })).toMatchObject({ status: 401 });
  expect(await begin("/v1/chat/completions", 15 * MIB)).toMatchObject({ status: 401 });
  expect(await begin("/api/events", 3 * MIB, { authorization: "Bearer unknown" })).toMatchObject({ status: 401 });
  expect(bodyBudget.takenBytes).toBe(before);
  // A small one is read, so that its connection is good for another request.
  expect(await begin("/api/repos/create", 60_000)).toBeUndefined();
});

test("S137 what one address has under way is bounded; a small body and another party's are taken all the same", async () => {
  const before = bodyBudget.takenBytes;
  const answers = await Promise.all(Array.from({ length: 60 }, () => begin("/api/validate-yaml", 2 * MIB)));
  const refused = answers.filter((answer) => answer !== undefined);
  expect(refused.length).toBeGreaterThan(10);
  expect(refused.length).toBeLessThan(60);
  for (const { status, headers } of refused) expect([status, headers["retry-after"]]).toEqual([503, "5"]);
  expect(bodyBudget.takenBytes).toBeGreaterThan(MIB);
  expect(await send("/api/models/ada/tide/unknown", 1_000, false)).toMatchObject({ status: 404 });
  const { accessToken } = await somebodyWithToken("manage-repos");
  expect(await begin("/api/repos/create", 15 * MIB, { authorization: `Bearer ${accessToken}` })).toBeUndefined();
  for (const req of open.splice(0)) req.destroy();
  await expect.poll(() => bodyBudget.takenBytes).toBe(before);
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
