import { afterAll, beforeAll, expect, test } from "vitest";
import { somebodyWithToken } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let token: string;
beforeAll(async () => {
  world = await startApiWorld();
  token = (await somebodyWithToken("manage-repos")).accessToken;
});
afterAll(() => world.stop());

const MIB = 1024 * 1024;

async function send(path: string, body: string): Promise<{ status: number; mainMs: number }> {
  const before = process.threadCpuUsage();
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const { status } = await fetch(world.origin + path, { method: "POST", headers, body });
  const { user, system } = process.threadCpuUsage(before);
  return { status, mainMs: (user + system) / 1_000 };
}

test("S138 a body of nothing but brackets is not parsed", async () => {
  const deep = "[".repeat(8 * MIB) + "]".repeat(8 * MIB);
  const part = deep.slice(6 * MIB, 10 * MIB);
  const flat = `"${"x".repeat(deep.length - 2)}"`;
  const before = process.threadCpuUsage();
  JSON.parse(part);
  const parsingPartMs = process.threadCpuUsage(before).user / 1_000;
  const ordinary = await send("/api/repos/create", flat);
  const { status, mainMs } = await send("/api/repos/create", deep);
  expect(status).toBe(400);
  // Sending and receiving it costs what it costs; beyond that it is less than to parse a quarter of it.
  expect(mainMs - ordinary.mainMs).toBeLessThan(parsingPartMs);
});

test("S138 a body of nothing but small values is not parsed", async () => {
  const many = `[${"{},".repeat(4 * MIB)}{}]`;
  const flat = `"${"x".repeat(many.length - 2)}"`;
  const before = process.threadCpuUsage();
  JSON.parse(`[${"{},".repeat(MIB)}{}]`);
  const parsingPartMs = process.threadCpuUsage(before).user / 1_000;
  const ordinary = await send("/api/repos/create", flat);
  const { status, mainMs } = await send("/api/repos/create", many);
  expect(status).toBe(400);
  expect(mainMs - ordinary.mainMs).toBeLessThan(parsingPartMs);
});

test.each([
  ["brackets in a string", JSON.stringify({ content: `---\na: 1\n---\n${'[\\"{'.repeat(50_000)}` }), 200],
  [
    "a hundred levels and one",
    JSON.stringify({ content: "x".repeat(70_000) }).replace("{", `{"a":${"[".repeat(100)}${"]".repeat(100)},`),
    400,
  ],
  [
    "a hundred levels",
    JSON.stringify({ content: "x".repeat(70_000) }).replace("{", `{"a":${"[".repeat(99)}${"]".repeat(99)},`),
    200,
  ],
])("a long body with %s", async (_, body, expected) => {
  expect((await send("/api/validate-yaml", body)).status).toBe(expected);
});
