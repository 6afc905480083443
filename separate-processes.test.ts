import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { buildForTests, type RunningService, spawnService, startService, stopService } from "#core/testing/running-service.ts";

const SOON = { timeout: 30_000, interval: 50 };
const statusOf = (address: string): Promise<number> =>
  fetch(address, { headers: { connection: "close" } }).then(
    ({ status }) => status,
    () => 0,
  );

async function begin(settings: Record<string, string>, ...args: string[]): Promise<RunningService> {
  const service = await spawnService(settings, args);
  onTestFinished(() => stopService(service));
  return service;
}

async function start(settings: Record<string, string>, ...args: string[]): Promise<RunningService> {
  const service = await startService(settings, args);
  onTestFinished(() => stopService(service));
  return service;
}

beforeAll(buildForTests, 240_000);

it("runs the web process and the worker apart, on one database and one data directory", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-apart-"));
  const database = await startEmbedded(folder, { isDurable: false });
  onTestFinished(async () => {
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const healthPort = await freePort();
  const shared = {
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    SECRET_KEY: "a key for this test, at least 32 characters",
    DATA_DIR: join(folder, "shared"),
    WORKER_HEALTH_PORT: String(healthPort),
  };
  const [web, worker] = await Promise.all([start(shared, "--only", "web"), start(shared, "--only=worker")]);
  const health = `http://127.0.0.1:${healthPort}`;

  expect(web.pidOf("server.ts")).toBeGreaterThan(0);
  expect(() => web.pidOf("worker/index.ts")).toThrow();
  expect(worker.pidOf("worker/index.ts")).toBeGreaterThan(0);
  expect(() => worker.pidOf("server.ts")).toThrow();
  expect(worker.output()).not.toContain("/setup/");
  expect(
    await Promise.all([`${web.origin}/readyz`, `${health}/healthz`, `${health}/readyz`, `${health}/`].map(statusOf)),
  ).toEqual([200, 200, 200, 404]);
  expect(await statusOf(`${worker.origin}/healthz`)).toBe(0);

  // A second one of a kind that has a port to itself cannot take it.
  const second = await begin(shared, "--only", "worker");
  expect((await second.exited).code).toBe(78);
  expect(second.output()).toContain(`WORKER_HEALTH_PORT: cannot listen on port ${healthPort}`);

  const killed = worker.pidOf("worker/index.ts");
  process.kill(killed, "SIGKILL");
  await vi.waitFor(() => expect(worker.pidOf("worker/index.ts")).not.toBe(killed), SOON);

  await database.stop();
  await vi.waitFor(async () => expect(await statusOf(`${health}/readyz`)).toBe(503), SOON);
  await vi.waitFor(async () => expect(await statusOf(`${web.origin}/readyz`)).toBe(503), SOON);
  expect(await statusOf(`${web.origin}/healthz`)).toBe(200);
});

it("says what is wrong with a line that it cannot run", { timeout: 60_000 }, async () => {
  for (const [args, message] of [
    [["--only", "worker"], "--only needs DATABASE_URL"],
    [["--only", "both"], "--only is followed by web or worker"],
    [["--onyl", "web"], "Unknown option '--onyl'"],
  ] as const) {
    const service = await begin({}, ...args);
    expect((await service.exited).code).toBe(78);
    expect(service.output()).toContain(message);
    expect(service.output()).not.toContain("    at ");
  }
});
