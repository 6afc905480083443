import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type EmbeddedServer, findEmbedded, startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import {
  buildForTests,
  isAlive,
  type RunningService,
  spawnService,
  startService,
  stopService,
} from "#core/testing/running-service.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const SOON = { timeout: 60_000, interval: 100 };
const PROCESSES = ["server.ts", "worker/index.ts", "database"] as const;

const statusAt = (address: string): Promise<number> =>
  fetch(address, { redirect: "manual", headers: { connection: "close" } }).then(
    ({ status }) => status,
    () => 0,
  );
const statusOf = ({ origin }: RunningService, path: string) => statusAt(origin + path);
const untilItSays = (status: number, address: string) =>
  vi.waitFor(async () => expect(await statusAt(address)).toBe(status), SOON);

const pidOf = (service: RunningService, what: (typeof PROCESSES)[number]) => vi.waitFor(() => service.pidOf(what), SOON);

async function expectRefusal(message: string, settings: Record<string, string>, ...args: string[]): Promise<void> {
  const refused = await spawnService(settings, args);
  started.push(refused);
  expect((await refused.exited).code).toBe(78);
  expect(refused.output()).toContain(message);
  expect(refused.output()).not.toMatch(/^ {4}at /m); // no stack
}

/** The tests share one service and depend on their order. */
let service: RunningService;
const started: RunningService[] = [];
beforeAll(async () => {
  await buildForTests();
  service = await startService();
  started.push(service);
});
afterAll(async () => {
  for (const each of started.reverse()) await stopService(each);
});

describe("a service that runs", () => {
  it("prints its address and the link for its operator, and answers requests of all kinds", async () => {
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

  it("S116 gives the web process and the worker a database role that can only add to the audit log", async () => {
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

  it("logs one line for each request, with its ID and without its query", async () => {
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
});

describe("a web process and a worker that are started separately, while another service runs", () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-apart-"));
  let database: EmbeddedServer;
  let shared: Record<string, string>;
  let web: RunningService;
  let worker: RunningService;
  let health: string;
  beforeAll(async () => {
    database = await startEmbedded(folder, { isDurable: false });
    const healthPort = await freePort();
    health = `http://127.0.0.1:${healthPort}`;
    shared = {
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      SECRET_KEY: "a key for this test, at least 32 characters",
      DATA_DIR: join(folder, "shared"),
      WORKER_HEALTH_PORT: String(healthPort),
    };
    [web, worker] = await Promise.all([startService(shared, ["--only", "web"]), startService(shared, ["--only=worker"])]);
  });
  afterAll(async () => {
    await Promise.all([web, worker].map((each) => each && stopService(each)));
    await database?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("each run at an address of their own, and the other service continues to run", async () => {
    expect(web.pidOf("server.ts")).toBeGreaterThan(0);
    expect(() => web.pidOf("worker/index.ts")).toThrow();
    expect(worker.pidOf("worker/index.ts")).toBeGreaterThan(0);
    expect(() => worker.pidOf("server.ts")).toThrow();
    expect(worker.output()).not.toContain("/setup/");
    const addresses = [service.origin, web.origin, health].map((origin) => `${origin}/readyz`);
    expect(await Promise.all(addresses.map(statusAt))).toEqual([200, 200, 200]);
    expect(await Promise.all([`${health}/healthz`, `${health}/`].map(statusAt))).toEqual([200, 404]);
    expect(await statusOf(worker, "/healthz")).toBe(0);
    const killed = worker.pidOf("worker/index.ts");
    process.kill(killed, "SIGKILL");
    await vi.waitFor(() => expect(worker.pidOf("worker/index.ts")).not.toBe(killed), SOON);
  });

  it("exit with a reason, and without more attempts, if their port is taken", async () => {
    const { port } = new URL(service.origin);
    const { WORKER_HEALTH_PORT } = shared;
    const alreadyRunning = `The service is already running on ${service.dataDir} (process ${service.process.pid})`;
    await Promise.all([
      expectRefusal(`port ${port} is in use`, { ...shared, PORT: port }, "--only", "web"),
      expectRefusal(`WORKER_HEALTH_PORT: cannot listen on port ${WORKER_HEALTH_PORT}`, shared, "--only", "worker"),
      expectRefusal(alreadyRunning, { DATA_DIR: service.dataDir }),
    ]);
    expect(await statusOf(service, "/readyz")).toBe(200);
  });

  it("answer 503 with Retry-After while the database is away, and recover when it returns", async () => {
    await database.stop();
    await untilItSays(503, `${health}/readyz`);
    await untilItSays(503, `${web.origin}/readyz`);
    expect(await statusOf(web, "/healthz")).toBe(200);
    for (const path of ["/login", "/api/whoami-v2", "/oauth/userinfo"]) {
      const answer = await fetch(web.origin + path, { headers: { authorization: "Bearer kh_unknown" } });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      await answer.text();
    }
    const { port } = database;
    database = await startEmbedded(folder, { isDurable: false, preferredPort: port });
    expect(database.port).toBe(port);
    await untilItSays(200, `${web.origin}/readyz`);
    await untilItSays(200, `${health}/readyz`);
    expect([await statusOf(web, "/login"), await statusOf(web, "/api/whoami-v2")]).toEqual([200, 401]);
  });
});

it("a service explains invalid settings and command lines", async () => {
  await Promise.all([
    expectRefusal("SMTP_URL: must be an smtp:// or smtps:// URL", { SMTP_URL: "mail.example.com" }),
    expectRefusal("SECRET_KEY is required when DATABASE_URL is set", { DATABASE_URL: "postgres://localhost/keyhook" }),
    expectRefusal("Install git 2.38 or later.", { PATH: "/nowhere" }),
    expectRefusal("--only requires DATABASE_URL", {}, "--only", "worker"),
    expectRefusal("--only must be followed by web or worker", {}, "--only", "both"),
    expectRefusal("Unknown option '--onyl'", {}, "--onyl", "web"),
  ]);
});

describe("a service whose processes end", () => {
  it("S122 recovers from SIGKILL of the web process, the worker and the database", async () => {
    for (const what of PROCESSES) {
      const killed = await pidOf(service, what);
      process.kill(killed, "SIGKILL");
      await vi.waitFor(() => expect(service.pidOf(what)).not.toBe(killed), SOON);
      await untilItSays(200, `${service.origin}/readyz`);
      expect(await statusOf(service, "/login")).toBe(200);
    }
    expect(service.process.exitCode).toBeNull();
  });

  it("leaves only the database running when the supervisor is killed, and replaces it at the next start", async () => {
    const [web, worker, database] = await Promise.all(PROCESSES.map((what) => pidOf(service, what)));
    service.process.kill("SIGKILL");
    await vi.waitFor(() => expect([web, worker].filter((pid) => isAlive(pid as number))).toEqual([]), SOON);
    service = await startService({ DATA_DIR: service.dataDir });
    started.push(service);
    expect(isAlive(database as number)).toBe(false);
    expect(await statusOf(service, "/readyz")).toBe(200);
  });

  it("when it is stopped, finishes requests in progress and leaves no process", async () => {
    const pids = await Promise.all(PROCESSES.map((what) => pidOf(service, what)));
    const post = (length: number) => {
      const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": length };
      return request(`${service.origin}/oauth/token`, { method: "POST", agent: false, headers });
    };
    const endless = post(10).on("error", () => undefined);
    endless.write("x");
    const body = "grant_type=authorization_code&code=unknown&client_id=unknown";
    const slow = post(body.length);
    slow.write(body.slice(0, 10));
    await delay(300); // they have arrived
    const startedAt = Date.now();
    service.process.kill("SIGTERM");
    await vi.waitFor(async () => expect(await statusOf(service, "/healthz")).toBe(0), { timeout: 10_000, interval: 50 });
    await delay(500);
    slow.end(body.slice(10));
    const [answer] = await once(slow, "response");
    expect(answer.statusCode).toBe(401);
    expect(JSON.parse(await text(answer))).toMatchObject({ error: "invalid_client" });
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
