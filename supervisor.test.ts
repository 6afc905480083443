import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { findEmbedded, startEmbedded } from "#core/postgres/embedded.ts";
import {
  buildForTests,
  isAlive,
  type RunningService,
  spawnService,
  startService,
  stopService,
} from "#core/testing/running-service.ts";

const SOON = { timeout: 30_000, interval: 50 };

/** A service that ends with its test. */
async function begin(settings?: Record<string, string>): Promise<RunningService> {
  const service = await spawnService(settings);
  onTestFinished(() => stopService(service));
  return service;
}

async function start(settings?: Record<string, string>): Promise<RunningService> {
  const service = await startService(settings);
  onTestFinished(() => stopService(service));
  return service;
}

async function statusOf({ origin }: RunningService, path: string): Promise<number> {
  return fetch(origin + path, { redirect: "manual", headers: { connection: "close" } }).then(
    ({ status }) => status,
    () => 0,
  );
}

const untilReady = (service: RunningService) =>
  vi.waitFor(async () => expect(await statusOf(service, "/readyz")).toBe(200), SOON);

beforeAll(buildForTests, 180_000);

/** What can be seen of one service from outside, in this order: each start costs seconds of a core. */
describe("a service that runs", { timeout: 90_000 }, () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  }, 90_000);
  afterAll(() => stopService(service));

  it("prints its address and the link for its operator, and answers at all its doors", async () => {
    expect(service.output()).toContain(`Keyhook is ready: ${service.origin}\n`);
    const [link = ""] = service.output().match(/http:\S+\/setup\/\S+/) ?? [];
    expect(link).toMatch(new RegExp(`^${service.origin}/setup/[\\w-]{43}$`));
    for (const [path, status] of [
      ["/healthz", 200],
      ["/readyz", 200],
      ["/login", 200],
      [new URL(link).pathname, 200],
      ["/nothing/here/at/all", 404],
      ["/.well-known/openid-configuration", 200],
      ["/oauth/token", 405],
      ["/api/whoami-v2", 401],
    ] as const)
      expect([path, await statusOf(service, path)]).toEqual([path, status]);
    const page = await fetch(`${service.origin}/login`);
    expect(page.headers.get("content-security-policy")).toMatch(/script-src 'self' 'nonce-[^']+' 'strict-dynamic'/);
    const nonce = page.headers.get("content-security-policy")?.match(/'nonce-([^']+)'/)?.[1];
    const scripts = (await page.text()).match(/<script\b[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
  });

  it("S116 runs what answers requests as a role that can only add to the audit log, which the worker seals", async () => {
    for (const what of ["server.ts", "worker/index.ts"] as const) {
      const environment = readFileSync(`/proc/${service.pidOf(what)}/environ`, "utf8").split("\0");
      expect(environment.filter((line) => /^DATABASE_(OWNER_)?URL=/.test(line)).sort()).toEqual([
        "DATABASE_OWNER_URL=",
        expect.stringMatching(/^DATABASE_URL=postgres:\/\/keyhook_service:/),
      ]);
    }
    const { url = "" } = findEmbedded(service.dataDir) ?? {};
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("insert into audit_event (id, type) values ('0123456789abcdef01234567', 'user.sign_in')");
    await vi.waitFor(async () => {
      const { rows } = await client.query("select event_id from audit_seal where event_id = '0123456789abcdef01234567'");
      expect(rows).toHaveLength(1);
    }, SOON);
    for (const sql of [
      "delete from audit_event",
      "update audit_seal set seq = 9",
      "truncate audit_event",
      "drop table audit_seal",
    ])
      await expect(client.query(sql)).rejects.toMatchObject({ code: "42501" });
  });

  it("logs one line for each request, with its id and without its query", async () => {
    const answer = await fetch(`${service.origin}/login?next=%2Fsettings`);
    const requestId = answer.headers.get("x-request-id");
    await answer.text();
    const line = await vi.waitFor(() => {
      const lines = service
        .output()
        .split("\n")
        .filter((each) => each.includes(`"requestId":"${requestId}"`));
      expect(lines).toHaveLength(1);
      return JSON.parse(lines[0] ?? "");
    }, SOON);
    expect(line).toMatchObject({ method: "GET", path: "/login", status: 200, msg: "request" });
    expect(line.ip).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(service.output()).not.toContain("next=");
  });

  it("runs beside another one, but not twice on one data directory", async () => {
    const other = await start();
    expect([await statusOf(service, "/readyz"), await statusOf(other, "/readyz")]).toEqual([200, 200]);
    const third = await begin({ DATA_DIR: service.dataDir });
    expect((await third.exited).code).toBe(78);
    expect(third.output()).toContain(`The service is already running on ${service.dataDir} (process ${service.process.pid})`);
    expect(await statusOf(service, "/readyz")).toBe(200);
  });

  it("S122 recovers from SIGKILL of the web process, the worker and the database", async () => {
    for (const what of ["server.ts", "worker/index.ts", "database"] as const) {
      const killed = service.pidOf(what);
      process.kill(killed, "SIGKILL");
      await vi.waitFor(() => expect(service.pidOf(what)).not.toBe(killed), SOON);
      await untilReady(service);
      expect(await statusOf(service, "/login")).toBe(200);
    }
    expect(service.process.exitCode).toBeNull();
  });
});

describe("a service", { timeout: 90_000 }, () => {
  it("lets a request under way finish when it is told to stop, takes no new one, and leaves no process", async () => {
    const service = await start();
    const pids = (["server.ts", "worker/index.ts", "database"] as const).map(service.pidOf);
    const body = "grant_type=authorization_code&code=unknown&client_id=unknown";
    const slow = request(`${service.origin}/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "content-length": body.length },
    });
    slow.write(body.slice(0, 10));
    await delay(300); // it has arrived
    const startedAt = Date.now();
    service.process.kill("SIGTERM");
    await vi.waitFor(async () => expect(await statusOf(service, "/healthz")).toBe(0), { timeout: 3_000, interval: 50 });
    await delay(1_000);
    slow.end(body.slice(10));
    const [answer] = await once(slow, "response");
    expect(answer.statusCode).toBe(401);
    expect(JSON.parse(await text(answer))).toMatchObject({ error: "invalid_client" });
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("stops within 10 seconds although a request does not end", async () => {
    const service = await start();
    const endless = request(`${service.origin}/oauth/token`, { method: "POST", headers: { "content-length": 10 } });
    endless.on("error", () => undefined);
    endless.write("x");
    await delay(300);
    const startedAt = Date.now();
    service.process.kill("SIGTERM");
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  it("leaves only the database when the supervisor is killed, and starts again from there", async () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), "keyhook-service-")), "data");
    const first = await start({ DATA_DIR: dataDir });
    const [web, worker, database] = (["server.ts", "worker/index.ts", "database"] as const).map(first.pidOf) as [
      number,
      number,
      number,
    ];
    first.process.kill("SIGKILL");
    await vi.waitFor(() => expect([web, worker].filter(isAlive)).toEqual([]), SOON);
    const second = await start({ DATA_DIR: dataDir });
    expect(isAlive(database)).toBe(false);
    expect(await statusOf(second, "/readyz")).toBe(200);
  });

  it("says what is wrong when it cannot start, and does not keep trying", async () => {
    const busy = createServer().listen(0);
    await once(busy, "listening");
    onTestFinished(() => void busy.close());
    const { port } = busy.address() as AddressInfo;
    for (const [settings, message] of [
      [{ PORT: String(port) }, `port ${port} is in use`],
      [{ SMTP_URL: "mail.example.com" }, "SMTP_URL: must be an smtp:// or smtps:// URL"],
      [{ DATABASE_URL: "postgres://localhost/keyhook" }, "SECRET_KEY is required when DATABASE_URL is set"],
      [{ PATH: "/nowhere" }, "Install git 2.38 or later."],
    ] as [Record<string, string>, string][]) {
      const service = await begin(settings);
      expect((await service.exited).code).toBe(78);
      expect(service.output()).toContain(message);
      expect(service.output()).not.toContain("    at "); // no stack
    }
  });

  it("answers 503 with Retry-After while a database of the operator's is away, and recovers when it returns", async () => {
    const database = mkdtempSync(join(tmpdir(), "keyhook-service-"));
    const before = await startEmbedded(database, { isDurable: false });
    onTestFinished(() => before.stop());
    // Both roles, as an operator has them who wants the service to own nothing.
    const urls = { DATABASE_URL: before.url, DATABASE_OWNER_URL: before.ownerUrl };
    const service = await start({ ...urls, SECRET_KEY: "a key for this test, at least 32 characters" });
    await before.stop();
    await vi.waitFor(async () => expect(await statusOf(service, "/readyz")).toBe(503), SOON);
    for (const path of ["/login", "/api/whoami-v2", "/oauth/userinfo"]) {
      const answer = await fetch(service.origin + path, { headers: { authorization: "Bearer kh_unknown" } });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      await answer.text();
    }
    const after = await startEmbedded(database, { isDurable: false, preferredPort: before.port });
    onTestFinished(() => after.stop());
    expect(after.port).toBe(before.port);
    await untilReady(service);
    expect(await statusOf(service, "/login")).toBe(200);
    expect(await statusOf(service, "/api/whoami-v2")).toBe(401);
  });
});
