import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bodyBudget, SMALL_BODY_BYTES } from "#core/fair-queue/body-budget.ts";
import { api } from "./app.ts";
import { bodyLimitOf, TRANSFER } from "./refuse-bad-input.ts";
import { somebodyWithToken } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

const MIB = 1024 * 1024;

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

describe("S138 a body larger than its URL accepts is refused, with or without a length", () => {
  test.each([true, false])("in chunks: %s", async (isChunked) => {
    const refused = { status: 413, code: "payload_too_large" };
    expect(await send("/api/models/ada/tide/unknown", 66_000, isChunked)).toEqual(refused);
    const withoutToken = { status: 401, code: "unauthorized" };
    expect(await send("/api/validate-yaml", 3 * MIB, isChunked)).toEqual(isChunked ? withoutToken : refused);
    expect(await send("/api/repos/create", 66_000, isChunked)).toEqual(withoutToken);
    expect(await send("/api/repos/create", 10, isChunked)).toEqual(withoutToken);
  });
});

type Begun = { status: number | undefined; retryAfter: string | undefined };

function begin(path: string, length: number, headers: Record<string, string> = {}): Promise<Begun> {
  const req = request(world.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": String(length), ...headers },
    agent: false,
  });
  open.push(req);
  req.write(Buffer.alloc(Math.min(length, 1_000), " "));
  return new Promise((resolve) => {
    req.on("error", () => undefined);
    req.on("response", ({ statusCode, headers }) => resolve({ status: statusCode, retryAfter: headers["retry-after"] }));
  });
}

const open: ClientRequest[] = [];
afterEach(() => {
  for (const req of open.splice(0)) req.destroy();
});

test("S138 a large body is not awaited if the required token is missing", async () => {
  const before = bodyBudget.takenBytes;
  expect(await begin("/api/repos/create", 15 * MIB)).toMatchObject({ status: 401 });
  expect(await begin("/api/repos/create", 15 * MIB, { authorization: "Bearer hf_unknown" })).toMatchObject({ status: 401 });
  expect(await begin("/api/validate-yaml", MIB)).toMatchObject({ status: 401 });
  expect(await begin("/api/models/ada/tide/paths-info/main", MIB / 2)).toMatchObject({ status: 401 });
  expect(await begin("/v1/chat/completions", 15 * MIB)).toMatchObject({ status: 401 });
  expect(await begin("/api/events", 3 * MIB, { authorization: "Bearer unknown" })).toMatchObject({ status: 401 });
  expect(bodyBudget.takenBytes).toBe(before);
});

test("a refused small body leaves its connection usable, and a refused large body closes it", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = async (bytes: number) => {
    const headers = { "content-type": "application/json", "content-length": String(bytes) };
    const req = request(`${world.origin}/api/repos/create`, { method: "POST", headers, agent });
    req.end(Buffer.alloc(bytes, " "));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    await text(res);
    return { status: res.statusCode, connection: res.headers.connection, isReused: req.reusedSocket };
  };
  await post(60_000);
  await delay(1_000);
  expect(await post(60_000)).toEqual({ status: 401, connection: "keep-alive", isReused: true });
  expect(await post(80_000)).toMatchObject({ status: 401, connection: "close" });
  agent.destroy();
});

test("S137 an IP address can send only a limited number of large bodies at once", async () => {
  const before = bodyBudget.takenBytes;
  const heldOf = (bytes: number) => bytes - SMALL_BODY_BYTES;
  const refused: Begun[] = [];
  for (let each = 0; each < 100; each++) {
    begin("/ada/tide.git/info/lfs/objects/batch", MIB).then((answer) => refused.push(answer));
  }
  await expect.poll(() => refused.length + (bodyBudget.takenBytes - before) / heldOf(MIB), { timeout: 20_000 }).toBe(100);
  expect(refused.length).toBeGreaterThan(10);
  expect(refused.length).toBeLessThan(100);
  for (const answer of refused) expect(answer).toEqual({ status: 503, retryAfter: "5" });
  expect(await send("/api/models/ada/tide/unknown", 1_000, false)).toMatchObject({ status: 404 });
  const { accessToken } = await somebodyWithToken("manage-repos");
  const held = bodyBudget.takenBytes;
  void begin("/api/repos/create", 15 * MIB, { authorization: `Bearer ${accessToken}` });
  await expect.poll(() => bodyBudget.takenBytes - held, { timeout: 20_000 }).toBe(heldOf(15 * MIB));
  for (const req of open.splice(0)) req.destroy();
  await expect.poll(() => bodyBudget.takenBytes, { timeout: 20_000 }).toBe(before);
});

test("S138 a body's limit is that of the route that answers, even if other routes match the URL", () => {
  const limitOf = (line: string) => {
    const [method = "", path = ""] = line.split(" ");
    return bodyLimitOf(api.router.match(method, path)[0].map(([[, route]]) => route));
  };
  expect(limitOf("POST /ada/tide.git/git-receive-pack")).toBe(TRANSFER);
  expect(limitOf("POST /datasets/ada/tide/git-upload-pack")).toBe(TRANSFER);
  expect(limitOf("PUT /ada/tide.git/info/lfs/objects/batch")).toBe(TRANSFER);
  expect(limitOf("POST /ada/tide.git/info/lfs/objects/batch").maxBytes).toBe(MIB);
  expect(limitOf("POST /api/models/ada/tide/commit/main").isStreamed).toBe(true);
  expect(limitOf("POST /api/models/ada/tide/lfs-files/batch").maxBytes).toBe(MIB);
  expect(limitOf("POST /api/jobs/git-upload-pack")).toEqual({ maxBytes: MIB, takesTokenOf: "anybody" });
  expect(limitOf("POST /api/events")).toEqual({ maxBytes: 4 * MIB, takesTokenOf: "platform" });
  for (const line of [
    "POST /api/models/ada/tide/commit",
    "PUT /ada/tide/git-receive-pack",
    "POST /v1/git-upload-pack/git-upload-pack",
  ])
    expect(limitOf(line)).toEqual({ maxBytes: 64 * 1024 });
});
