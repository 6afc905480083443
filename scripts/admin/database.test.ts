import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { type EmbeddedServer, startEmbedded } from "#core/postgres/embedded.ts";
import { startService, stopService } from "#core/testing/running-service.ts";
import { AdminProcess } from "./admin-process.ts";
import { adminLine } from "./testing/admin-line.ts";

vi.setConfig({ testTimeout: 120_000 });

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

const environment = (settings: Record<string, string> = {}) =>
  ({ PATH: process.env.PATH, HOME: folder, DATA_DIR, ...settings }) as unknown as NodeJS.ProcessEnv;

function adminWith(settings?: Record<string, string>): AdminProcess {
  const admin = new AdminProcess(environment(settings));
  onTestFinished(() => admin.close());
  return admin;
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

it("the command moves an embedded database despite interruptions, and the service continues on the other server", async () => {
  const admin = adminWith();
  const made = await admin.run([
    ..."user create --username mara --email mara@example.test --operator --password".split(" "),
    "a long enough phrase",
  ]);
  expect(made).toMatchObject({ json: { id: expect.any(String) } });
  const move = ["database", "move", "--to", target.url, "--to-owner", target.ownerUrl];

  const script = join(import.meta.dirname, "../admin.ts");
  const killed = spawn(process.execPath, [script, ...move], { env: environment(), stdio: "ignore" });
  await vi.waitFor(async () => expect(await count(COPYING)).toBeGreaterThan(0), { timeout: 60_000, interval: 10 });
  killed.kill("SIGKILL");
  await once(killed, "exit");
  await vi.waitFor(async () => expect(await count(COPYING)).toBe(0), { timeout: 30_000, interval: 50 });
  expect(await count(TABLES)).toBe(0);

  const moved = await admin.run(move);
  expect(moved).toMatchObject({
    json: { secret_key_file: join(DATA_DIR, "secret-key"), audit_head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/) },
  });
  expect(await count(`select count(*)::int as count from "user" where email = 'mara@example.test'`)).toBe(1);

  const again = await admin.run(move);
  expect(again).toMatchObject({ failure: { code: "settings", error: expect.stringContaining("is not empty") } });
  expect(await admin.run(["user", "list"])).toMatchObject({
    failure: { error: expect.stringMatching(/was moved on .* Set DATABASE_URL and SECRET_KEY/) },
  });

  const settings = {
    DATABASE_URL: target.url,
    DATABASE_OWNER_URL: target.ownerUrl,
    SECRET_KEY: readFileSync(join(DATA_DIR, "secret-key"), "utf8").trim(),
  };
  const service = await startService({ ...settings, DATA_DIR }, ["--only", "worker"]);
  onTestFinished(() => stopService(service));
  const there = adminWith(settings);
  const running = await there.run(["database", "move", "--to", target.url.replace(/[^/]+$/, "nowhere")]);
  expect(running).toMatchObject({ failure: { error: expect.stringContaining("cannot be reached") } });
  await stopService(service);
  const { audit_head: head } = moved.json as { audit_head: string };
  expect(await there.run(["audit", "verify", "--head", head])).toMatchObject({ json: { ok: true } });
  expect(existsSync(join(DATA_DIR, "database-moved"))).toBe(true);
});

it("the error names a URL that cannot be used", async () => {
  for (const [to, message] of [
    ["mysql://db.example.com/keyhook", "--to must be a URL such as postgres://"],
    ["postgres://db.example.com", "--to must be a URL such as postgres://"],
  ] as const)
    expect(await adminLine("database", "move", "--to", to)).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining(message),
    });
});
