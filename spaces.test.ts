import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type ClientRequest, createServer, type IncomingMessage, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { freshName, from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { clearThrottle, consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import { db, pool } from "#core/db.ts";
import { childEnvironment, provideSettings } from "#core/env.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { stopListening } from "#core/notifications.ts";
import { pauseSpace, restartSpace } from "#core/spaces/controls/change-runtime.ts";
import { WAKES } from "#core/spaces/controls/wake-space.ts";
import { type AppTarget, type FoundApp, parseAppTarget } from "#core/spaces/door/find-app.ts";
import { readSpaceLog } from "#core/spaces/logs/read-space-log.ts";
import { RESTARTS_MAX } from "#core/spaces/run/run-space.ts";
import { readSpaceRuntime } from "#core/spaces/space-runtime.ts";
import { countStatements } from "#core/testing/count-statements.ts";
import { tokenOf } from "./api/testing/git-client.ts";
import { handleRequest } from "./server/handle-request.ts";
import { openApp, staysOpen } from "./server/spaces/open-app.ts";
import { isAppSocket, serveAppSocket } from "./server/spaces/serve-app-socket.ts";
import type { Loop } from "./worker/loop.ts";
import { startSpaces } from "./worker/runs.ts";

// Each Space starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let ada: TestPerson;
let origin: string;
let worker: Loop;
const server = createServer((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end("a page"), req, res));
let keptMs: number | undefined;
server.on("upgrade", (req, socket, head) => {
  if (isAppSocket(req)) void serveAppSocket(req, socket, head, { keptMs });
  else socket.destroy();
});

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  provideSettings({ ORIGIN: origin, SPACES_CONCURRENCY: "64" });
  ada = await signedInPerson();
  worker = await startSpaces();
});
afterAll(async () => {
  await worker?.stop();
  server.closeAllConnections();
  server.close();
  await stopListening();
});

const README = (more = "") => `---\nsdk: node\n${more}---\n# A Space\n`;

const APP = `
import { createServer } from "node:http";
import { createHash } from "node:crypto";
const started = Date.now();
const server = createServer(async (req, res) => {
  const url = new URL(req.url, "http://app");
  if (url.pathname === "/crash") process.exit(3);
  if (url.pathname === "/say") console.log(url.searchParams.get("what"));
  if (url.pathname === "/silent") return req.socket.destroy();
  if (url.pathname === "/redirect") return res.writeHead(302, { location: url.searchParams.get("to") }).end();
  if (url.pathname === "/try") {
    const { connect } = await import("node:net");
    const trial = connect({ host: url.searchParams.get("host"), port: Number(url.searchParams.get("port")) });
    trial.setTimeout(2000, () => trial.destroy(new Error("timed out")));
    const came = await new Promise((resolve) => trial.once("connect", () => resolve("connected")).once("error", (e) => resolve(e.code ?? e.message)));
    return res.end(came);
  }
  if (url.pathname === "/hold") return res.writeHead(200).write("one piece, and no more");
  if (url.pathname === "/events") {
    res.writeHead(200, { "content-type": "text/event-stream" });
    let n = 0;
    const timer = setInterval(() => (n < 3 ? res.write("data: " + n++ + "\\n\\n") : (clearInterval(timer), res.end())), 50);
    return;
  }
  if (url.pathname === "/harm") {
    return res.writeHead(200, { "set-cookie": ["session=x; Path=/", "b=c"], "clear-site-data": '"*"', "service-worker-allowed": "/",
      "strict-transport-security": "max-age=0", "access-control-allow-origin": "https://evil.example", "access-control-allow-credentials": "true",
      "content-security-policy": "default-src *", "x-frame-options": "ALLOWALL", nel: "{}", "report-to": "{}", "alt-svc": "h3=\\":1\\"",
      "www-authenticate": "Basic realm=x", "secure-session-registration": '(ES256);path="/x"', "set-login": "logged-out", "content-type": "text/html", "x-app-own": "kept",
      "x-accel-redirect": "/private/backup.sql", "x-accel-buffering": "yes", "x-accel-expires": "9", "x-sendfile": "/etc/passwd",
      "x-lighttpd-send-file": "/etc/passwd", "x-reproxy-url": "http://127.0.0.1/", "surrogate-control": "max-age=9", "cdn-cache-control": "max-age=9",
      "x-litespeed-location": "/x", "x-cascade": "pass", "x-never-heard-of": "1", etag: '"1"', "retry-after": "7", "x-ratelimit-remaining": "3" }).end("<script>1</script>");
  }
  const chunks = [];
  try {
    for await (const chunk of req) chunks.push(chunk);
  } catch {
    return; // The client has disconnected.
  }
  const body = Buffer.concat(chunks);
  res.writeHead(url.pathname === "/teapot" ? 418 : 200, { "content-type": "application/json" });
  res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, length: body.length,
    sha: createHash("sha256").update(body).digest("hex"), started, env: process.env, cwd: process.cwd(), version: VERSION }));
});
server.on("upgrade", (req, socket) => {
  const accept = createHash("sha1").update(req.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSet-Cookie: a=b\\r\\nSec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n");
  socket.on("data", (data) => socket.write(data));
  socket.on("error", () => undefined);
});
server.listen(process.env.PORT, "127.0.0.1");
console.log("hello from the app");
`;

async function someSpace(files: Record<string, string> = {}, options: { isPrivate?: boolean } = {}): Promise<Repo> {
  const repo = await someRepo(ada, { type: "space", sdk: "node", ...options });
  await commitTo(repo, ada, { "README.md": README(), "package.json": '{"type":"module"}', "app.js": app("one"), ...files });
  return repo;
}
const app = (version: string) => `const VERSION = ${JSON.stringify(version)};\n${APP}`;

const WEBSOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};

const appOf = (repo: Repo, path = "") => `${origin}/spaces/${repo.fullName}/app/${path}`;
const get = (repo: Repo, path = "", init: RequestInit = {}) => fetch(appOf(repo, path), { redirect: "manual", ...init });
const stageOf = async ({ id }: Repo) => (await readSpaceRuntime(id))?.stage;
const logOf = async ({ id }: Repo) => (await readSpaceLog(id)).map((piece) => piece.text).join("");
const becomes = (repo: Repo, stage: string, timeout = 60_000) =>
  vi.waitFor(async () => expect(await stageOf(repo)).toBe(stage), { timeout, interval: 20 });

function send(path: string, { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {}) {
  return new Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }>((resolve, reject) => {
    const req = request(`${origin}/`, { path, method, headers, agent: false }, (res) => {
      text(res).then((body) => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }), reject);
    });
    req.on("error", reject).end();
  });
}

function expectSandboxed(headers: Headers | IncomingMessage["headers"]): void {
  const of = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name]);
  expect(of("content-security-policy")).toMatch(/^sandbox allow-scripts [a-z- ]+; frame-ancestors 'self'/);
  expect(of("content-security-policy")).not.toMatch(/allow-same-origin|allow-top-navigation/);
  expect(of("x-frame-options")).toBe("SAMEORIGIN");
  expect(of("x-content-type-options")).toBe("nosniff");
  expect(of("referrer-policy")).toBe("no-referrer");
  expect(of("set-cookie") ?? null).toBeNull();
  expect(of("access-control-allow-credentials") ?? null).toBeNull();
}

describe("a running Space", () => {
  let repo: Repo;
  beforeAll(async () => {
    repo = await someSpace();
  });

  test("starts with a push, and responds to requests", async () => {
    const body = Buffer.alloc(300_000, "keyhook");
    const answer = await get(repo, "some/path?q=1", { method: "POST", body });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ method: "POST", url: "/some/path?q=1", length: 300_000, version: "one" });
    expect(await stageOf(repo)).toBe("RUNNING");
    expect((await get(repo, "teapot")).status).toBe(418);
    await vi.waitFor(async () => expect(await logOf(repo)).toContain("hello from the app"), 2_000);
  });

  test("gets its own URL, but no cookies, tokens or referrer of a visitor", async () => {
    const token = await tokenOf(ada);
    const headers = {
      cookie: `${siteSessionCookie().name}=${ada.token}; other=1`,
      authorization: `Bearer ${token}`,
      "x-forwarded-for": "1.2.3.4",
      referer: `${origin}/settings`,
      "x-keyhook-space": "x",
      "x-own": "kept",
    };
    const { body } = await send(`/spaces/${repo.fullName}/app/`, { headers });
    const { headers: seen, env } = JSON.parse(body);
    for (const name of ["cookie", "authorization", "referer", "x-keyhook-space", "x-keyhook-client-address"])
      expect(seen).not.toHaveProperty(name);
    expect(body).not.toContain(token);
    expect(seen).toMatchObject({
      "x-own": "kept",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-prefix": `/spaces/${repo.fullName}/app`,
      host: new URL(origin).host,
    });
    expect(env).toMatchObject({ SPACE_ID: repo.fullName, SPACE_URL: appOf(repo), PORT: "7860" });
    expect(Object.keys(env).filter((name) => /SECRET|DATABASE|KEY/.test(name))).toEqual([]);
  });

  test("S23 its responses set nothing for our origin, instruct no proxy, and run in the browser's sandbox", async () => {
    const answer = await get(repo, "harm");
    expectSandboxed(answer.headers);
    for (const [name, value] of Object.entries({
      "x-app-own": "kept",
      etag: '"1"',
      "retry-after": "7",
      "x-ratelimit-remaining": "3",
    }))
      expect(answer.headers.get(name)).toBe(value);
    expect(answer.headers.get("content-security-policy")).toContain(", default-src *");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    for (const name of [
      "clear-site-data",
      "service-worker-allowed",
      "nel",
      "report-to",
      "alt-svc",
      "www-authenticate",
      "strict-transport-security",
      "secure-session-registration",
      "set-login",
      "x-accel-redirect",
      "x-accel-buffering",
      "x-accel-expires",
      "x-sendfile",
      "x-lighttpd-send-file",
      "x-reproxy-url",
      "x-litespeed-location",
      "x-cascade",
      "surrogate-control",
      "cdn-cache-control",
      "x-never-heard-of",
    ])
      expect(answer.headers.has(name), name).toBe(false);
  });

  test("S23 the service's own responses at its URL also run in the sandbox", async () => {
    const base = `/spaces/${repo.fullName}/app`;
    const own = [
      [base, 302],
      [`${base}/silent`, 502],
      [`${base}/a%5c..`, 200],
      [`/spaces/${repo.owner.handle}/nobody/app/`, 404],
      [`/spaces/${repo.owner.handle}%2f${repo.name}/x/app/`, 400],
    ] as const;
    for (const [path, status] of own) {
      for (const accept of ["text/html", "*/*"]) {
        const answer = await send(path, { headers: { accept } });
        expect([path, answer.status]).toEqual([path, status]);
        expectSandboxed(answer.headers);
      }
    }
    for (const path of [`${base}/../../settings`, `${base}/a/%2e%2E/b`]) {
      const { status, headers } = await send(path, { headers: { accept: "text/html" } });
      expect([status, headers["content-security-policy"]]).toEqual([400, expect.stringMatching(/^default-src 'none'/)]);
    }
    const worker = await send(`${base}/worker.js`, { headers: { "service-worker": "script" } });
    expect(worker.status).toBe(403);
    expectSandboxed(worker.headers);
    const preflight = await send(`${base}/x`, {
      method: "OPTIONS",
      headers: { origin: "null", "access-control-request-method": "PUT", "access-control-request-headers": "x-a" },
    });
    expect(preflight).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": "*", "access-control-allow-headers": "x-a" },
    });
  });

  test.each([
    ["/other", "/spaces/NAME/app/other"],
    ["/spaces/NAME/app/other?x", "/spaces/NAME/app/other?x"],
    ["http://127.0.0.1:7860/a", "/spaces/NAME/app/a"],
    ["http://localhost:7860", "/spaces/NAME/app/"],
    ["ORIGIN/settings", "/spaces/NAME/app/settings"],
    ["relative", "relative"],
    ["https://example.com/x", "https://example.com/x"],
    ["//example.com/x", "//example.com/x"],
  ])("that redirects to %s sends a browser to %s", async (to, where) => {
    const named = (address: string) => address.replace("NAME", repo.fullName).replace("ORIGIN", origin);
    const answer = await get(repo, `redirect?to=${encodeURIComponent(named(to))}`);
    expect(answer.headers.get("location")).toBe(named(where));
  });

  test("streams events as they arrive, and WebSockets in both directions", async () => {
    const answer = await get(repo, "events");
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: 0\n\n");
    let rest = "";
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) rest += Buffer.from(next.value);
    expect(rest).toBe("data: 1\n\ndata: 2\n\n");
    const socket = request(appOf(repo, "socket"), { headers: WEBSOCKET });
    const echoed = await new Promise<string>((resolve, reject) => {
      socket.on("upgrade", (res, stream) => {
        expect(res.headers["set-cookie"]).toBeUndefined();
        stream.on("data", (data) => {
          resolve(String(data));
          stream.destroy();
        });
        stream.write("over and back");
      });
      socket.on("error", reject).end();
    });
    expect(echoed).toBe("over and back");
  });

  test("S137 slow requests and WebSockets of one IP address do not block the Space for other visitors", async () => {
    provideSettings({ TRUST_PROXY: "127.0.0.0/8,::1" });
    const opened: (ClientRequest | Duplex)[] = [];
    const attempt = (address: string, options: RequestOptions) => {
      const { headers, ...rest } = options;
      const attempted = request(appOf(repo, "held"), {
        agent: false,
        ...rest,
        headers: { ...headers, "x-forwarded-for": address },
      });
      opened.push(attempted.on("error", () => undefined));
      attempted.on("upgrade", (_, stream) => opened.push(stream.on("error", () => undefined)));
      return attempted;
    };
    try {
      for (let each = 0; each < 300; each++) {
        attempt("198.51.100.1", { method: "POST", headers: { "content-length": 100 } }).write("x");
        attempt("198.51.100.1", { headers: WEBSOCKET }).end();
      }
      await get(repo, "", { headers: { "x-forwarded-for": "198.51.100.1" } });
      const [answer] = await once(attempt("203.0.113.1", { method: "POST" }).end("quick"), "response");
      expect([answer.statusCode, JSON.parse(await text(answer)).length]).toEqual([200, 5]);
      const [upgraded] = await once(attempt("203.0.113.1", { headers: WEBSOCKET }).end(), "upgrade");
      expect(upgraded.statusCode).toBe(101);
    } finally {
      for (const each of opened) each.destroy();
      provideSettings({ TRUST_PROXY: "" });
    }
  });

  test("S137 WebSockets of many IP addresses yield when somebody else waits", async () => {
    provideSettings({ TRUST_PROXY: "127.0.0.0/8,::1" });
    const opened: (ClientRequest | Duplex)[] = [];
    const open = (address: string) => {
      const headers = { ...WEBSOCKET, "x-forwarded-for": address };
      const socket = request(appOf(repo, "socket"), { agent: false, headers }).on("error", () => undefined);
      opened.push(socket);
      return new Promise<number | undefined>((resolve) => {
        socket.on("upgrade", (_, stream) => resolve(void opened.push(stream.on("error", () => undefined))));
        socket.on("response", (answer) => resolve(answer.statusCode)).end();
      });
    };
    try {
      keptMs = 100;
      const held = Array.from({ length: 96 }, (_, at) => `198.51.100.${at}`);
      await Promise.all(held.map((address) => expect.poll(() => open(address), { timeout: 15_000 }).toBeUndefined()));
      expect(await open("203.0.113.2")).toBeUndefined();
    } finally {
      keptMs = undefined;
      for (const each of opened) each.destroy();
      provideSettings({ TRUST_PROXY: "" });
    }
  });

  test("S132 cannot reach the database, the worker, this service or a cloud's metadata", async () => {
    const { hostname, port } = new URL(process.env.DATABASE_URL ?? "");
    const address = new URL((await readSpaceRuntime(repo.id))?.address ?? "");
    for (const [host, at] of [
      [hostname, port],
      ["127.0.0.1", address.port],
      ["127.0.0.1", new URL(origin).port],
      ["169.254.169.254", "80"],
      ["1.1.1.1", "53"],
    ]) {
      const came = await (await get(repo, `try?host=${host}&port=${at}`)).text();
      expect(came, `${host}:${at}`).toMatch(/^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN)$/);
    }
    expect(await (await get(repo, "try?host=127.0.0.1&port=7860")).text()).toBe("connected");
  });

  test("accepts requests at its worker only from the service's web processes", async () => {
    const { address } = (await readSpaceRuntime(repo.id)) ?? {};
    for (const key of ["", `${repo.id}.${Math.floor(Date.now() / 1000)}.${"A".repeat(43)}`]) {
      const answer = await fetch(`${address}/`, { headers: key ? { "x-keyhook-space": key } : {} });
      expect([answer.status, answer.headers.get("x-keyhook-gateway")]).toEqual([503, "absent"]);
    }
  });
});

describe("how a Space runs", () => {
  test("a Space falls asleep without requests, and wakes to answer the next request", async () => {
    const repo = await someSpace();
    await get(repo);
    await pool().query("UPDATE space_runtime SET last_request_at = now() - interval '47 hours 59 minutes' WHERE repo_id = $1", [
      repo.id,
    ]);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await stageOf(repo)).toBe("RUNNING");
    await pool().query("UPDATE space_runtime SET last_request_at = now() - interval '48 hours 1 minute' WHERE repo_id = $1", [
      repo.id,
    ]);
    await becomes(repo, "SLEEPING");
    expect(await readSpaceRuntime(repo.id)).toMatchObject({ address: null });
    const answers = await Promise.all([get(repo, "first", { method: "POST", body: "a payload" }), get(repo), get(repo)]);
    expect(await answers[0]?.json()).toMatchObject({ url: "/first", length: 9 });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("S137 a visitor who wakes one Space after another is refused for a while", async () => {
    const repo = await someSpace();
    await get(repo);
    const asleep = "stage = 'SLEEPING', is_wanted = false, generation = generation + 1";
    await pool().query(`UPDATE space_runtime SET ${asleep} WHERE repo_id = $1`, [repo.id]);
    const woken = throttleKey("space-wake", `address 127.0.0.1\n${ada.id}`);
    for (let each = 0; each < WAKES.limit; each++) await consumeThrottle(woken, WAKES).catch(() => undefined);
    const answer = await get(repo, "", { headers: { accept: "text/html" } });
    expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    expectSandboxed(answer.headers);
    expect(await answer.text()).toContain("This Space is asleep");
    expect(await stageOf(repo)).toBe("SLEEPING");
    await clearThrottle(woken);
    expect((await get(repo)).status).toBe(200);
  });

  test("a push restarts a Space with the new files, and no request is lost", async () => {
    const repo = await someSpace();
    expect(await (await get(repo)).json()).toMatchObject({ version: "one" });
    await commitTo(repo, ada, { "app.js": app("two") });
    const seen = new Set<string>();
    for (let each = 0; each < 100 && !seen.has("two"); each++) {
      const answer = await get(repo, "x", { method: "POST", body: "payload" });
      expect(answer.status).toBe(200);
      seen.add(((await answer.json()) as { version: string }).version);
    }
    expect(seen).toContain("two");
    const head = await db().repo.findUniqueOrThrow({ where: { id: repo.id }, select: { headSha: true } });
    expect(await readSpaceRuntime(repo.id)).toMatchObject({ stage: "RUNNING", commit: head.headSha });
  });

  test("a Space is restarted when it exits, but not if it exits too often", async () => {
    const repo = await someSpace();
    await get(repo);
    expect((await get(repo, "crash")).status).toBe(502);
    // The first attempts may fail, because a request that reached the app while it stopped is not repeated.
    await vi.waitFor(async () => expect((await get(repo)).status).toBe(200));
    expect((await readSpaceRuntime(repo.id))?.restarts).toBe(1);
    expect(await logOf(repo)).toContain("ended with exit code 3");
    await runsAfter(5, repo);
    await get(repo, "crash");
    await becomes(repo, "RUNTIME_ERROR");
    const failed = await get(repo, "", { headers: { accept: "text/html" } });
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([502, null]);
    expect(await failed.text()).toContain("This Space has failed");
    expect(await readSpaceRuntime(repo.id)).toMatchObject({ message: "The app ended with exit code 3." });
    await restartSpace(ada.actor, nameOf(repo), from);
    expect((await get(repo)).status).toBe(200);
  });

  test("a Space is no longer restarted when several workers are lost soon after its start", async () => {
    const repo = await someSpace();
    await get(repo);
    const lose = (attempts: number, secondsAgo: number) =>
      pool().query(
        `UPDATE space_runtime SET claim_id = 'lost', claimed_until = now(), attempts = $2, updated_at = now() - make_interval(secs => $3)
          WHERE repo_id = $1`,
        [repo.id, attempts, secondsAgo],
      );
    const attempts = async () => (await db().spaceRuntime.findUniqueOrThrow({ where: { repoId: repo.id } })).attempts;
    await lose(RESTARTS_MAX + 1, 600);
    await vi.waitFor(async () => expect(await attempts()).toBe(1));
    await becomes(repo, "RUNNING");
    await lose(RESTARTS_MAX + 1, 0);
    await becomes(repo, "RUNTIME_ERROR");
    expect((await readSpaceRuntime(repo.id))?.message).toContain("worker stopped each time");
    await restartSpace(ada.actor, nameOf(repo), from);
    await becomes(repo, "RUNNING");
    expect(await attempts()).toBe(1);
  });

  test("only a restart wakes a paused Space", async () => {
    const repo = await someSpace();
    await get(repo);
    await pauseSpace(ada.actor, nameOf(repo), from);
    const paused = await get(repo);
    expect([paused.status, await paused.json()]).toMatchObject([503, { error: "paused" }]);
    expectSandboxed(paused.headers);
    await commitTo(repo, ada, { "app.js": app("two") });
    expect((await get(repo)).status).toBe(503);
    expect(await stageOf(repo)).toBe("PAUSED");
    await restartSpace(ada.actor, nameOf(repo), from);
    expect(await (await get(repo)).json()).toMatchObject({ version: "two" });
  });

  test("S122 a Space whose lease is lost is claimed again and runs", async () => {
    const repo = await someSpace();
    await get(repo);
    const before = await db().spaceRuntime.findUniqueOrThrow({ where: { repoId: repo.id } });
    await pool().query("UPDATE space_runtime SET claimed_until = now(), claim_id = 'somebody else' WHERE repo_id = $1", [
      repo.id,
    ]);
    const answer = await get(repo, "x", { method: "POST", body: "payload" });
    expect(answer.status).toBe(200);
    const after = await db().spaceRuntime.findUniqueOrThrow({ where: { repoId: repo.id } });
    expect(after.claimId).not.toBe(before.claimId);
    expect(after).toMatchObject({ stage: "RUNNING", restarts: 0 });
  });

  test.each([
    ["no app file", { "app.js": "", "README.md": README("app_file: server.js\n") }, "NO_APP_FILE", "There is no file server.js"],
    ["another sdk", { "README.md": "---\nsdk: gradio\n---\n" }, "CONFIG_ERROR", "not gradio"],
    ["a bad port", { "README.md": README("app_port: 70000\n") }, "CONFIG_ERROR", "app_port must be a number"],
    ["an app file outside", { "README.md": README("app_file: ../x.js\n") }, "CONFIG_ERROR", "app_file must be a file"],
  ])("with %s a Space names the problem", async (_, files, stage, message) => {
    const repo = await someSpace(files);
    await becomes(repo, stage);
    expect((await readSpaceRuntime(repo.id))?.message).toContain(message);
    const answer = await get(repo);
    expect(answer.status).toBe(503);
    expect(JSON.stringify(await answer.json())).toContain(message);
    await commitTo(repo, ada, { "README.md": README(), "app.js": app("mended") });
    expect(await (await get(repo)).json()).toMatchObject({ version: "mended" });
  });

  test("a Space runs the command in its README", async () => {
    const repo = await someSpace({ "README.md": README("app_port: 8123\ncommand: 'GREETING=hello node app.js'\n") });
    expect(await (await get(repo)).json()).toMatchObject({ env: { PORT: "8123", GREETING: "hello" }, cwd: "/workspace" });
  });
});

describe("a long visit", () => {
  test("S135 a stream and a WebSocket end when the visitor may no longer see the Space", async () => {
    const repo = await someSpace({}, { isPrivate: true });
    const token = await tokenOf(ada, "read-repos");
    const headers = { authorization: `Bearer ${token}` };
    expect((await get(repo, "", { headers })).status).toBe(200);
    const socket = request(appOf(repo, "socket"), { headers: { ...headers, ...WEBSOCKET } }).end();
    const [, open] = (await once(socket, "upgrade")) as [IncomingMessage, Duplex];
    open.on("error", () => undefined);
    const stream = await get(repo, "hold", { headers });
    const ended = Promise.all([
      once(open, "close"),
      stream.text().then(
        () => "whole",
        () => "broken off",
      ),
    ]);
    const revoked = { where: { userId: ada.id, last4: token.slice(-4) }, data: { revokedAt: new Date() } };
    expect(await db().personalAccessToken.updateMany(revoked)).toEqual({ count: 1 });
    expect((await ended)[1]).toBe("broken off");
    expect((await get(repo, "", { headers })).status).toBe(404);
  });

  test("S137 for a public Space, access is checked once for all visitors, until the Space is no longer public", async () => {
    const repo = await someRepo(ada, { type: "space", sdk: "node" });
    const target = parseAppTarget(new URL(appOf(repo)).pathname) as AppTarget;
    const req = { method: "GET", headers: {} } as IncomingMessage;
    const app = (await openApp(req, target)) as FoundApp & { kind: "app" };
    const asks = Array.from({ length: 100 }, () => staysOpen(req, target, app));
    const { result, statements } = await countStatements(() => Promise.all(asks.map((ask) => ask())));
    expect(result).toEqual(asks.map(() => true));
    expect(statements).toBeLessThan(50);
    await db().repo.update({ where: { id: repo.id }, data: { isPrivate: true } });
    const end = () => Promise.all(asks.map((ask) => ask().catch(() => false)));
    await vi.waitFor(async () => expect(await end()).toEqual(asks.map(() => false)), 10_000);
  });

  test("S137 for a visitor of a private Space, access is checked once for all connections", async () => {
    const repo = await someSpace();
    await db().repo.update({ where: { id: repo.id }, data: { isPrivate: true } });
    const target = parseAppTarget(new URL(appOf(repo)).pathname) as AppTarget;
    const visit = async (scope: string) => {
      const authorization = `Bearer ${await tokenOf(ada, scope)}`;
      return { method: "GET", headers: { authorization } } as IncomingMessage;
    };
    const [req, other] = [await visit("read-repos"), await visit("profile")];
    const app = (await openApp(req, target)) as FoundApp & { kind: "app" };
    const asks = Array.from({ length: 100 }, () => staysOpen(req, target, app));
    const { result, statements } = await countStatements(() => Promise.all(asks.map((ask) => ask())));
    expect(result).toEqual(asks.map(() => true));
    expect(statements).toBeLessThan(50);
    await expect(staysOpen(other, target, app)()).rejects.toMatchObject({ code: "not_found" });
  });
});

async function runsAfter(restarts: number, repo: Repo): Promise<void> {
  const { startedAt } = (await readSpaceRuntime(repo.id)) ?? {};
  await pool().query(
    `WITH run AS (UPDATE space_runtime SET restarts = $2, generation = generation + 1, due_at = now() WHERE repo_id = $1)
     SELECT pg_notify('space', $1)`,
    [repo.id, restarts],
  );
  await vi.waitFor(async () => {
    const now = await readSpaceRuntime(repo.id);
    expect([now?.stage, now?.startedAt?.getTime() !== startedAt?.getTime()]).toEqual(["RUNNING", true]);
  }, 60_000);
}

const nameOf = (repo: Repo) => ({ owner: repo.owner.handle, name: repo.name });

describe("the API of a Space", () => {
  test("reports its state, and restarts, pauses and sets its sleep time for the Python client", async () => {
    const repo = await someSpace();
    await get(repo);
    const headers = {
      authorization: `Bearer ${await tokenOf(ada, "manage-repos", "read-repos")}`,
      "content-type": "application/json",
    };
    const call = async (path: string, method = "GET", body?: object) => {
      const answer = await fetch(`${origin}/api/spaces/${repo.fullName}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
    };
    const hardware = { current: "cpu-basic", requested: "cpu-basic" };
    const { json: info } = await call("");
    expect(info).toMatchObject({ host: appOf(repo).slice(0, -1), runtime: { stage: "RUNNING", hardware, gcTimeout: 172_800 } });
    expect((await call("/host")).json).toMatchObject({ host: appOf(repo).slice(0, -1) });
    expect((await call("/sleeptime", "POST", { seconds: 3_600 })).json).toMatchObject({ gcTimeout: 3_600 });
    for (const seconds of [-1, 5, 172_801, 1.5]) expect((await call("/sleeptime", "POST", { seconds })).status).toBe(400);
    expect((await call("/pause", "POST")).json).toMatchObject({ stage: "PAUSED", hardware: { current: null } });
    expect((await get(repo)).status).toBe(503);
    expect((await call("/restart?factory=true", "POST")).json).toMatchObject({ stage: "APP_STARTING" });
    expect((await get(repo)).status).toBe(200);
    const eve = await tokenOf(await signedInPerson("eve"), "manage-repos", "read-repos");
    for (const path of ["restart", "pause", "sleeptime", "secrets"]) {
      const answer = await fetch(`${origin}/api/spaces/${repo.fullName}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${eve}`, "content-type": "application/json" },
        body: JSON.stringify({ seconds: 3_600, key: "A", value: "b" }),
      });
      expect([path, answer.status]).toEqual([path, 403]);
    }
    expect(
      (await fetch(`${origin}/api/spaces/${repo.fullName}/logs/run`, { headers: { authorization: `Bearer ${eve}` } })).status,
    ).toBe(403);
  });

  test("S130 S134 its secrets reach the app, but neither the API nor the log", async () => {
    const repo = await someSpace();
    await get(repo);
    const headers = {
      authorization: `Bearer ${await tokenOf(ada, "manage-repos", "read-repos")}`,
      "content-type": "application/json",
    };
    const call = (path: string, method: string, body?: object) =>
      fetch(`${origin}/api/spaces/${repo.fullName}/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const secret = "a very quiet word";
    expect((await call("secrets", "POST", { key: "WORD", value: secret, description: "said softly" })).status).toBe(200);
    expect((await call("variables", "POST", { key: "PLAIN", value: "seen" })).status).toBe(200);
    for (const body of [
      { key: "PORT", value: "1" },
      { key: "1A", value: "" },
      { key: "A", value: "\0" },
      { key: "A", value: "x".repeat(32_769) },
    ])
      expect((await call("secrets", "POST", body)).status).toBe(400);
    await vi.waitFor(async () => {
      const { env } = (await (await get(repo)).json()) as { env: Record<string, string> };
      expect(env).toMatchObject({ WORD: secret, PLAIN: "seen" });
    }, 60_000);
    const listed = await (await call("secrets", "GET")).text();
    expect(JSON.parse(listed)).toMatchObject({ WORD: { key: "WORD", description: "said softly" } });
    expect(listed).not.toContain(secret);
    expect(await (await call("variables", "GET")).json()).toMatchObject({ PLAIN: { value: "seen" } });
    const row = await db().spaceVariable.findFirstOrThrow({ where: { repoId: repo.id, name: "WORD" } });
    expect(Buffer.from(row.value).toString("latin1")).not.toContain(secret);
    await get(repo, `say?what=${encodeURIComponent(`the word is ${secret}!`)}`);
    const log = await call("logs/run", "GET");
    let read = "";
    for await (const chunk of log.body ?? []) {
      read += Buffer.from(chunk);
      if (read.includes("the word is")) break;
    }
    expect(read).toContain("the word is ***!");
    expect(read).not.toContain(secret);
    expect((await call("secrets", "DELETE", { key: "WORD" })).status).toBe(200);
    expect((await call("secrets", "DELETE", { key: "PLAIN" })).status).toBe(404);
  });
});

describe("a private Space", () => {
  test("S136 opens only for users who may read it, at a separate URL for each visit", async () => {
    const repo = await someSpace({}, { isPrivate: true });
    const other = await signedInPerson("eve");
    const cookie = (person: TestPerson) => ({ cookie: `${siteSessionCookie().name}=${person.token}` });
    const nowhere = await get({ ...repo, fullName: `${repo.owner.handle}/nothing` } as Repo);
    const absent = await nowhere.text();
    for (const init of [
      {},
      { headers: cookie(other) },
      { headers: { authorization: `Bearer ${await tokenOf(other)}` } },
      { headers: { authorization: "Bearer nonsense" } },
      { headers: cookie(ada), method: "POST" },
    ]) {
      const answer = await get(repo, "", init);
      expect([answer.status, await answer.text()]).toEqual([404, absent]);
    }
    expect((await get(repo, "x", { headers: { authorization: `Bearer ${await tokenOf(ada)}` } })).status).toBe(200);
    const visit = await get(repo, "page?q=1", { headers: cookie(ada) });
    expect(visit.status).toBe(302);
    const location = visit.headers.get("location") ?? "";
    expect(location).toMatch(new RegExp(`^/spaces/${repo.fullName}/app/~s\\.[^/]+/page\\?q=1$`));
    const opened = await fetch(`${origin}${location}`, { method: "POST", body: "x" });
    expect(opened.headers.get("cache-control")).toBe("private, no-store");
    expect(await opened.json()).toMatchObject({
      url: "/page?q=1",
      headers: { "x-forwarded-prefix": `/spaces/${repo.fullName}/app` },
    });
    const another = await someSpace({}, { isPrivate: true });
    const segment = location.split("/")[5] ?? "";
    expect((await get(another, `${segment}/`)).status).toBe(404);
    expect((await fetch(`${origin}${location.replace(/~s\.\w/, "~s.f")}`)).status).toBe(404);
    await db().siteSession.updateMany({ where: { userId: ada.id, id: ada.actor.sessionId }, data: { endedAt: new Date() } });
    expect((await fetch(`${origin}${location}`)).status).toBe(404);
    await db().siteSession.updateMany({ where: { userId: ada.id }, data: { endedAt: null } });
    expect((await fetch(`${origin}${location}`)).status).toBe(200);
  });
});

describe("S136 a visit's URL that the visitor passed on to others", () => {
  test("expires as soon as any user loses access to the Space, and other visitors continue at a new URL", async () => {
    const eve = await signedInPerson("eve");
    const [orgId, org] = [newId(), freshName("harbour")];
    await db().handle.create({ data: { handle: org, orgId } });
    await db().organization.create({ data: { id: orgId, name: org, fullName: org } });
    for (const [userId, role] of [
      [ada.id, "admin"],
      [eve.id, "read"],
    ] as const)
      await db().membership.create({ data: { orgId, userId, role } });
    const repo = await someRepo(ada, { type: "space", sdk: "static", owner: org, isPrivate: true });
    await commitTo(repo, ada, { "README.md": "---\nsdk: static\n---\n", "index.html": "private" });
    const visit = async () => {
      const answer = await get(repo, "", { headers: { cookie: `${siteSessionCookie().name}=${ada.token}` } });
      return `${origin}${answer.headers.get("location")}`;
    };
    const open = async (address: string) => (await fetch(address, { redirect: "manual" })).status;
    const where = { orgId_userId: { orgId, userId: eve.id } };
    const request = { id: newId(), repoId: repo.id, userId: eve.id, status: "accepted" };
    const losses: [string, () => Promise<unknown>][] = [
      ["a disabled account", () => db().user.update({ where: { id: eve.id }, data: { disabledAt: new Date() } })],
      ["a removed member", () => db().membership.delete({ where })],
      ["a later refusal", () => db().accessRequest.update({ where: { id: request.id }, data: { status: "rejected" } })],
      ["a gate", () => db().repo.update({ where: { id: repo.id }, data: { gated: "manual" } })],
    ];
    await db().accessRequest.create({ data: request });
    for (const [what, lose] of losses) {
      const harvested = await visit();
      expect([what, await open(harvested)]).toEqual([what, 200]);
      await db().repo.update({ where: { id: repo.id }, data: { description: what } });
      expect([what, await open(harvested)]).toEqual([what, 200]);
      await lose();
      expect([what, await open(harvested)]).toEqual([what, 404]);
      expect([what, await open(await visit())]).toEqual([what, 200]);
    }
  });
});

describe("a static Space", () => {
  test("shows the files of its latest commit, in the browser's sandbox", async () => {
    const repo = await someRepo(ada, { type: "space", sdk: "static" });
    const page = "<!doctype html><script src=a.js></script>";
    await commitTo(repo, ada, {
      "README.md": "---\nsdk: static\n---\n",
      "index.html": page,
      "a.js": "1",
      "docs/index.html": "docs",
      "b c.svg": "<svg/>",
    });
    await becomes(repo, "RUNNING");
    const answer = await get(repo);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "text/html; charset=utf-8",
      page,
    ]);
    expectSandboxed(answer.headers);
    const script = await get(repo, "a.js");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await get(repo, "a.js", { headers: { "if-none-match": script.headers.get("etag") ?? "" } })).status).toBe(304);
    expect(await (await get(repo, "b%20c.svg", { headers: { range: "bytes=1-3" } })).text()).toBe("svg");
    expect((await get(repo, "docs")).headers.get("location")).toBe(`/spaces/${repo.fullName}/app/docs/`);
    expect(await (await get(repo, "docs/")).text()).toBe("docs");
    for (const path of ["nothing", "..%2f..%2fetc/passwd", "a.js/x"]) {
      const missing = await get(repo, path);
      expect([path, missing.status]).toEqual([path, 404]);
      expectSandboxed(missing.headers);
    }
    expect((await get(repo, "", { method: "POST" })).status).toBe(405);
    expect((await get(repo, "", { method: "HEAD" })).status).toBe(200);
    await commitTo(repo, ada, { "index.html": "new" });
    expect(await (await get(repo)).text()).toBe("new");
    await updateRepoSettings(ada.actor, { type: "space", ...nameOf(repo) }, { isPrivate: true }, from);
    expect((await get(repo)).status).toBe(404);
  });
});

describe("S122 a worker that ends", () => {
  // The Spaces of earlier tests are put to sleep, because the worker would hand them over too.
  beforeAll(async () => {
    await pool().query(
      "WITH asleep AS (UPDATE space_runtime SET stage = 'SLEEPING', is_wanted = false) SELECT pg_notify('space', '')",
    );
    await vi.waitFor(async () => expect(await db().spaceRuntime.count({ where: { claimId: { not: null } } })).toBe(0), 60_000);
  });

  test("hands its Spaces over when it is stopped, and loses them to another worker when it is killed", async () => {
    const repo = await someSpace();
    await get(repo);
    const { claimId: first } = await db().spaceRuntime.findUniqueOrThrow({ where: { repoId: repo.id } });
    const child = fork("worker/testing/run-spaces.ts", {
      env: childEnvironment(),
      execArgv: [],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await once(child, "message");
    await worker.stop();
    expect((await get(repo, "", { method: "POST", body: "payload" })).status).toBe(200);
    const { claimId, address } = await db().spaceRuntime.findUniqueOrThrow({ where: { repoId: repo.id } });
    expect(claimId).not.toBe(first);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect(fetch(address ?? "")).rejects.toThrow();
    const left = async () => (await readdir(tmpdir())).filter((name) => name.includes(`${repo.id}-${claimId?.slice(0, 8)}`));
    expect(await left()).toHaveLength(2);
    await pool().query("UPDATE space_runtime SET claimed_until = now() WHERE claim_id = $1", [claimId]);
    worker = await startSpaces();
    expect((await get(repo, "", { method: "POST", body: "payload" })).status).toBe(200);
    await worker.stop();
    worker = await startSpaces();
    expect(await left()).toEqual([]);
  });
});
