import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { somebodyWithToken } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let token: string;
let commitPath: string;
beforeAll(async () => {
  world = await startApiWorld();
  const ada = await somebodyWithToken("manage-repos");
  token = ada.accessToken;
  commitPath = `/api/models/${(await someRepo(ada)).fullName}/commit/main`;
});
afterAll(() => world.stop());

const MIB = 1024 * 1024;

async function send(path: string, body: string, type = "application/json"): Promise<{ status: number; mainMs: number }> {
  const before = process.threadCpuUsage();
  const headers = { "content-type": type, authorization: `Bearer ${token}` };
  const { status } = await fetch(world.origin + path, { method: "POST", headers, body });
  const { user, system } = process.threadCpuUsage(before);
  return { status, mainMs: (user + system) / 1_000 };
}

test("S138 a body of brackets is not parsed", async () => {
  const deep = "[".repeat(8 * MIB) + "]".repeat(8 * MIB);
  const part = deep.slice(6 * MIB, 10 * MIB);
  const flat = `"${"x".repeat(deep.length - 2)}"`;
  const before = process.threadCpuUsage();
  JSON.parse(part);
  const parsingPartMs = process.threadCpuUsage(before).user / 1_000;
  const ordinary = await send("/api/repos/create", flat);
  const { status, mainMs } = await send("/api/repos/create", deep);
  expect(status).toBe(400);
  // The main process must not parse the body.
  expect(mainMs - ordinary.mainMs).toBeLessThan(parsingPartMs);
});

test("S138 a body of very many small values is not parsed", async () => {
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

const nests = `[${`${"[".repeat(99)}${"]".repeat(99)},`.repeat(40_000)}0]`;

const names = `{${Array.from({ length: 121_000 }, (_, at) => `"name${at}":1`)}}`;

test.each([
  ["validate-yaml", "/api/validate-yaml", "application/json; x=form", `${"[".repeat(MIB)}`],
  ["validate-yaml", "/api/validate-yaml", "application/json", nests.slice(0, MIB)],
  ["paths", "/api/models/a/b/paths-info/main", "application/form+json", "[".repeat(MIB / 2)],
  ["the LFS batch API", "/a/b.git/info/lfs/objects/batch", "x/form", "[".repeat(MIB - 1)],
  ["the LFS batch API", "/a/b.git/info/lfs/objects/batch", "application/x-www-form-urlencoded", "[".repeat(MIB - 1)],
  ["new repositories", "/api/repos/create", "application/json", nests],
  ["names", "/api/repos/create", "application/json", names],
])("S138 JSON with too many lists or fields, or sent as a form, is not parsed: %s, %s", async (_, path, type, body) => {
  const parse = vi.spyOn(JSON, "parse");
  try {
    expect([400, 422]).toContain((await send(path, body, type)).status);
    expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
  } finally {
    parse.mockRestore();
  }
});

test.each([
  ["brackets in a string is accepted", JSON.stringify({ content: `---\na: 1\n---\n${'[\\"{'.repeat(50_000)}` }), 200],
  [
    "a hundred and one levels is refused",
    JSON.stringify({ content: "x".repeat(70_000) }).replace("{", `{"a":${"[".repeat(100)}${"]".repeat(100)},`),
    400,
  ],
  [
    "a hundred levels is accepted",
    JSON.stringify({ content: "x".repeat(70_000) }).replace("{", `{"a":${"[".repeat(99)}${"]".repeat(99)},`),
    200,
  ],
])("a long body with %s", async (_, body, expected) => {
  expect((await send("/api/validate-yaml", body)).status).toBe(expected);
});

describe("lines of a commit", () => {
  const ndjson = "application/x-ndjson";
  const header = `${JSON.stringify({ key: "header", value: { summary: "Tide" } })}\n`;
  const deletion = (junk: string) => `{"key":"deletedFile","value":{"path":"x"},"junk":${junk}}\n`;

  test("S138 are not parsed if they contain very many small values", async () => {
    const junk = `[${"{},".repeat(4 * MIB)}{}]`;
    const before = process.threadCpuUsage();
    JSON.parse(`[${"{},".repeat(MIB)}{}]`);
    const parsingPartMs = process.threadCpuUsage(before).user / 1_000;
    const ordinary = await send(commitPath, header + deletion(`"${"x".repeat(junk.length)}"`), ndjson);
    const { status, mainMs } = await send(commitPath, header + deletion(junk), ndjson);
    expect(status).toBe(400);
    expect(mainMs - ordinary.mainMs).toBeLessThan(parsingPartMs);
  });

  test.each([
    ["the header has many values", () => header.replace("{", `{"junk":[${"{},".repeat(150_000)}{}],`), 400],
    ["the header is longer than the longest description allows", () => header.replace("Tide", "x".repeat(600 * 1024)), 413],
    ["very many lines are empty", () => "\n".repeat(4 * MIB), 413],
    ["an operation has many values", () => header + deletion(`[${"1,".repeat(50_000)}1]`), 400],
  ])("S138 are refused if %s", async (_, body, expected) => {
    expect((await send(commitPath, body(), ndjson)).status).toBe(expected);
  });

  test("S137 count as buffered bodies only while they arrive", async () => {
    const headers = { "content-type": ndjson, authorization: `Bearer ${token}`, "content-length": 16 * MIB };
    const sending = request(world.origin + commitPath, { method: "POST", headers }).on("error", () => undefined);
    sending.write(header + deletion(`"${"x".repeat(8 * MIB)}`).trimEnd());
    await vi.waitFor(() => expect(bodyBudget.takenBytes).toBeGreaterThan(7 * MIB), 5_000);
    sending.destroy();
    await vi.waitFor(() => expect(bodyBudget.takenBytes).toBe(0), 5_000);
  });
});
