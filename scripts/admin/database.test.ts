import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type EmbeddedServer, startEmbedded } from "#core/postgres/embedded.ts";
import { startService, stopService } from "#core/testing/running-service.ts";

vi.setConfig({ testTimeout: 120_000 });

/** From a first start with the embedded database to a service on another server, as an operator does it. */
const folder = mkdtempSync(join(tmpdir(), "keyhook-move-"));
const DATA_DIR = join(folder, "data");
let target: EmbeddedServer;

beforeAll(async () => {
  target = await startEmbedded(join(folder), { isDurable: false });
}, 120_000);
afterAll(async () => {
  await target.stop();
  rmSync(folder, { recursive: true, force: true });
});

function start(args: string[], settings: Record<string, string> = {}): ChildProcess {
  const environment = { PATH: process.env.PATH as string, HOME: folder, DATA_DIR, ...settings };
  return spawn(process.execPath, [join(import.meta.dirname, "../admin.ts"), ...args, "--json"], {
    env: environment as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function admin(args: string[], settings?: Record<string, string>) {
  const child = start(args, settings);
  const exited = once(child, "exit");
  const [out, error] = await Promise.all([text(child.stdout as never), text(child.stderr as never)]);
  const [code] = await exited;
  return { code, json: JSON.parse(out || error) as Record<string, unknown> };
}

async function count(sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: target.ownerUrl });
  await client.connect();
  try {
    return (await client.query<{ count: number }>(sql)).rows[0]?.count as number;
  } finally {
    await client.end();
  }
}

const TABLES =
  "select count(*)::int as count from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace";
const COPYING =
  "select count(*)::int as count from pg_stat_activity where application_name = 'keyhook copy' and xact_start is not null";

it("moves an embedded database to another server, whatever comes in between, and the service goes on there", async () => {
  const made = await admin([
    ..."user create --username mara --email mara@example.test --operator --password".split(" "),
    "a long enough phrase",
  ]);
  expect(made.code, JSON.stringify(made.json)).toBe(0);
  const move = ["database", "move", "--to", target.url, "--to-owner", target.ownerUrl];

  // Killed in the middle of it:
  const killed = start(move);
  await vi.waitFor(async () => expect(await count(COPYING)).toBeGreaterThan(0), { timeout: 60_000, interval: 10 });
  killed.kill("SIGKILL");
  await once(killed, "exit");
  await vi.waitFor(async () => expect(await count(COPYING)).toBe(0), { timeout: 30_000, interval: 50 });
  expect(await count(TABLES)).toBe(0);

  const moved = await admin(move);
  expect(moved.code, JSON.stringify(moved.json)).toBe(0);
  expect(moved.json).toMatchObject({
    secret_key_file: join(DATA_DIR, "secret-key"),
    audit_head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
  });
  expect(await count(`select count(*)::int as count from "user" where email = 'mara@example.test'`)).toBe(1);

  const again = await admin(move);
  expect(again).toMatchObject({ code: 1, json: { code: "settings", error: expect.stringContaining("is not empty") } });
  // Without the new settings nothing goes on with what there was before.
  const lost = await admin(["user", "list"]);
  expect(lost).toMatchObject({
    code: 1,
    json: { error: expect.stringMatching(/was moved on .* Set DATABASE_URL and SECRET_KEY/) },
  });

  const settings = {
    DATABASE_URL: target.url,
    DATABASE_OWNER_URL: target.ownerUrl,
    SECRET_KEY: readFileSync(join(DATA_DIR, "secret-key"), "utf8").trim(),
  };
  const service = await startService({ ...settings, DATA_DIR }, ["--only", "worker"]);
  const running = await admin(["database", "move", "--to", target.url.replace(/[^/]+$/, "nowhere")], settings);
  expect(running).toMatchObject({ code: 1, json: { error: expect.stringContaining("cannot be reached") } });
  await stopService(service);
  expect(await admin(["audit", "verify", "--head", moved.json.audit_head as string], settings)).toMatchObject({
    code: 0,
    json: { ok: true },
  });
  expect(existsSync(join(DATA_DIR, "database-moved"))).toBe(true);
});

it("says which address it cannot use", async () => {
  for (const [to, message] of [
    ["mysql://db.example.com/keyhook", "--to must be a URL such as postgres://"],
    ["postgres://db.example.com", "--to must be a URL such as postgres://"],
  ] as const)
    expect(await admin(["database", "move", "--to", to])).toMatchObject({
      code: 2,
      json: { error: expect.stringContaining(message) },
    });
});
