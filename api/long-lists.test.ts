import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { operatorCommand } from "#core/access/actor.ts";
import { signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let repo: Awaited<ReturnType<typeof someRepo>>;
let token: string;
beforeAll(async () => {
  world = await startApiWorld();
  const person = await signedInPerson();
  repo = await someRepo(person);
  await commitTo(repo, person, { "README.md": "# Tide\n" });
  const made = { name: "laptop", scopes: ["manage-repos"], expiresInDays: 30 };
  token = (await createPersonalAccessToken(operatorCommand, person.id, made, noOrigin)).token;
});
afterAll(() => world.stop());

async function send(
  path: string,
  body: string,
  isSignedIn: boolean,
  type = "application/json",
): Promise<{ status: number; cpuMs: number }> {
  // A refusal before the body was read ends the connection, so no other request may use the connection.
  const headers = { "content-type": type, connection: "close", ...(isSignedIn && { authorization: `Bearer ${token}` }) };
  const before = process.threadCpuUsage();
  const answer = await fetch(world.origin + path, { method: "POST", headers, body });
  await answer.text();
  const { user, system } = process.threadCpuUsage(before);
  return { status: answer.status, cpuMs: (user + system) / 1_000 };
}

const MIB = 1024 * 1024;
const addresses: [name: string, path: () => string, body: (list: string) => string, bytes: number, isSignedIn: boolean][] = [
  ["the files of a new repository", () => "/api/repos/create", (list) => `{"name":"a","files":${list}}`, 2 * MIB, true],
  [
    "objects of a batch",
    () => `/${repo.fullName}.git/info/lfs/objects/batch`,
    (list) => `{"operation":"download","objects":${list}}`,
    MIB - 100,
    false,
  ],
  ["paths", () => `/api/models/${repo.fullName}/paths-info/main`, (list) => `{"paths":${list}}`, MIB - 100, true],
  [
    "a commit in one object",
    () => `/api/models/${repo.fullName}/commit/main`,
    (list) => `{"summary":"a","files":${list}}`,
    2 * MIB,
    true,
  ],
];

function issuesOf(elements: number): number {
  const before = process.threadCpuUsage();
  const { error } = z.array(z.object({ path: z.string() })).safeParse(Array.from({ length: elements }, () => 0));
  expect(error?.issues).toHaveLength(elements);
  return process.threadCpuUsage(before).user / 1_000;
}

test.each(addresses)(
  "S138 a long list of wrong elements is refused at little cost: %s",
  async (_, path, body, bytes, isSignedIn) => {
    const wrong = body(`[${"0,".repeat(bytes / 2 - 100)}0]`);
    const flat = body(JSON.stringify(["x".repeat(bytes - 200)]));
    await send(path(), flat, isSignedIn);
    const baseline = await send(path(), flat, isSignedIn);
    // Garbage collection may fall into one of the three requests.
    const costs: number[] = [];
    for (let time = 0; time < 3; time++) {
      const { status, cpuMs } = await send(path(), wrong, isSignedIn);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      costs.push(cpuMs);
    }
    expect(Math.min(...costs) - baseline.cpuMs).toBeLessThan(issuesOf(Math.floor(bytes / 16)));
  },
);

test.each([
  // A pattern for trailing slashes that starts to match at each slash takes a thousand times as long.
  ["slashes", 200, `a${"/".repeat(MIB - 200)}a`, (body: string) => /\/+$/.test(`${body.slice(0, MIB / 32)}a`)],
  ["fields", 400, "a&".repeat(500_000), (body: string) => new URLSearchParams(body).size],
])("S138 paths in a form of a megabyte of %s are answered at little cost", async (_, status, text, careless) => {
  const path = `/api/models/${repo.fullName}/paths-info/main`;
  const ask = (text: string) => send(path, `paths=${text}`, true, "application/x-www-form-urlencoded");
  const harmless = "x".repeat(text.length);
  await ask(harmless);
  const baseline = await ask(harmless);
  const before = process.threadCpuUsage();
  careless(text);
  const carelessMs = process.threadCpuUsage(before).user / 1_000;
  const hostile = await ask(text);
  expect([baseline.status, hostile.status]).toEqual([200, status]);
  expect(hostile.cpuMs - baseline.cpuMs).toBeLessThan(carelessMs);
});

test("S137 S138 a copy from a hostile path is refused at little cost, and commits nothing", async () => {
  const commit = (srcPath: string) => {
    const lines = [
      { key: "header", value: { summary: "Copy" } },
      { key: "copyFile", value: { path: "copy", srcPath } },
    ];
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    return send(`/api/models/${repo.fullName}/commit/main`, body, true, "application/x-ndjson");
  };
  const outside = ["../../../../etc/passwd", "/etc/passwd", ".git/config", "refs/heads/main", "main:README.md", "README.md\0"];
  for (const srcPath of ["", ".", "..", ":", "--help", "%2e%2e/README.md", "README.md\n", "\ud800", ...outside]) {
    const { status } = await commit(srcPath);
    expect([400, 404], JSON.stringify(srcPath)).toContain(status);
  }
  const length = MIB;
  const harmless = await commit("x".repeat(length));
  const before = process.threadCpuUsage();
  /\/+$/.test(`${"/".repeat(MIB / 32)}a`);
  const carelessMs = process.threadCpuUsage(before).user / 1_000;
  const hostile = await commit(`a${"/".repeat(length - 2)}a`);
  expect([harmless.status, hostile.status].every((status) => status === 400 || status === 404)).toBe(true);
  expect(hostile.cpuMs - harmless.cpuMs).toBeLessThan(carelessMs);
  const { length: commits } = await (await fetch(`${world.origin}/api/models/${repo.fullName}/commits/main`)).json();
  expect(commits).toBe(1);
});

test("S138 a route that requires a token checks it before it reads the body", async () => {
  expect((await send("/api/repos/create", '{"name":0}', false)).status).toBe(401);
  expect((await send("/api/repos/create", '{"name":0}', true)).status).toBe(400);
});
