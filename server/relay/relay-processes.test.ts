import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createClient, listenToRelay, type RelayedRequest, type RelayState } from "@keyhook/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { pool } from "#core/db.ts";
import { childEnvironment, databaseUrl } from "#core/env.ts";
import { startCuttableProxy } from "#core/oauth/testing/cuttable-proxy.ts";
import { type HttpsSite, startHttpsSite } from "#core/testing/https-site.ts";
import { type ServiceProcess, startProcess } from "../testing/start-process.ts";

vi.setConfig({ testTimeout: 120_000 });
const SOON = { timeout: 45_000, interval: 50 };
let one: ServiceProcess;
let two: ServiceProcess;
let site: HttpsSite;
let database: Awaited<ReturnType<typeof startCuttableProxy>>;

beforeAll(async () => {
  database = await startCuttableProxy(databaseUrl());
  site = await startHttpsSite();
  [one, two] = await Promise.all([
    startProcess({ ORIGIN: site.origin, DATABASE_URL: database.url }),
    startProcess({ ORIGIN: site.origin }),
  ]);
  site.answer(async (req, res) => pass(req, res, { body: await buffer(req), upstreams: [two.origin, one.origin] }));
});
afterAll(async () => {
  database.restore();
  await Promise.all([one.stop(), two.stop(), site.stop()]);
  await database.stop();
});

type Passing = { body: Buffer; upstreams: string[] };

function pass(req: http.IncomingMessage, res: http.ServerResponse, { body, upstreams: [upstream, ...others] }: Passing): void {
  if (upstream === undefined) return void res.writeHead(502).end();
  const { hostname, port } = new URL(upstream);
  const out = http.request({ hostname, port, method: req.method, path: req.url, headers: req.headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
    answer.once("error", () => res.destroy());
  });
  out.once("error", () => (res.headersSent ? res.destroy() : pass(req, res, { body, upstreams: others })));
  res.once("close", () => out.destroy());
  out.end(body);
}

async function someone() {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes: ["webhooks"] as const, expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, { ...input, scopes: ["webhooks"] }, from);
  return { token, client: createClient({ baseUrl: site.origin, token }) };
}

function startListener(baseUrl: string, token: string, ...more: string[]) {
  const said: string[] = [];
  const child: ChildProcess = fork(join(import.meta.dirname, "../testing/listener.ts"), [baseUrl, token, "laptop", ...more], {
    env: childEnvironment({}),
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.on("message", (text) => said.push(String(text)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, said };
}

/** On a busy machine, the other processes may take longer to start than callers wait. */
async function answeredOrTooLate(waiting: Promise<Response>, text: string): Promise<void> {
  const answer = await waiting;
  expect([200, 504]).toContain(answer.status);
  if (answer.status === 200) expect(await answer.text()).toBe(text);
}

test("S141 the response comes back even if one process accepts the request and another hands it over", async () => {
  const ada = await someone();
  const { child, said } = startListener(two.origin, ada.token);
  await vi.waitFor(() => expect(said).toContain("open"), SOON);
  const { url } = await ada.client.relays.get("laptop");
  expect(url.startsWith(`${site.origin}/relay/`)).toBe(true);
  const answer = await fetch(url.replace(site.origin, one.origin), { method: "POST", body: "x" });
  expect([answer.status, await answer.text()]).toEqual([200, `${child.pid}`]);
});

test("the request of a killed listener goes to the next listener, and its caller gets a response", async () => {
  const ada = await someone();
  const first = startListener(one.origin, ada.token, "hold");
  await vi.waitFor(() => expect(first.said).toContain("open"), SOON);
  const { url } = await ada.client.relays.get("laptop");
  const waiting = fetch(`${url}/work`, { method: "POST", body: "x" });
  await vi.waitFor(() => expect(first.said).toContain("/work"), SOON);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const next = startListener(two.origin, ada.token);
  await vi.waitFor(() => expect(next.said).toContain("/work"), SOON);
  await answeredOrTooLate(waiting, `${next.child.pid}`);
});

test("while the database is unavailable, callers get an error, and listeners reconnect afterwards", async () => {
  const ada = await someone();
  const { said } = startListener(one.origin, ada.token);
  await vi.waitFor(() => expect(said).toContain("open"), SOON);
  const { url } = await ada.client.relays.get("laptop");
  const direct = url.replace(site.origin, one.origin);
  database.cut();
  const away = await fetch(direct, { method: "POST", body: "x" });
  expect([away.status, Number(away.headers.get("retry-after")) > 0]).toEqual([503, true]);
  await vi.waitFor(() => expect(said).toContain("lost"), SOON);
  database.restore();
  await vi.waitFor(() => expect(said).toContain("resumed"), SOON);
  await vi.waitFor(async () => expect((await fetch(`${direct}/again`, { method: "POST", body: "x" })).status).toBe(200), SOON);
});

test("after a web process was killed, its listener continues with the other process", async () => {
  const ada = await someone();
  const states: RelayState["kind"][] = [];
  const handled: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stop = new AbortController();
  const ended = listenToRelay(ada.client, {
    name: "laptop",
    signal: stop.signal,
    onState: ({ kind }) => void states.push(kind),
    handle: async ({ path }: RelayedRequest) => {
      handled.push(path);
      await held;
      return { status: 200, body: path };
    },
  });
  onTestFinished(async () => {
    release();
    stop.abort();
    await ended;
  });
  await vi.waitFor(() => expect(states).toContain("open"), SOON);
  const { url } = await ada.client.relays.get("laptop");
  const waiting = fetch(`${url.replace(site.origin, one.origin)}/first`, { method: "POST", body: "x" });
  await vi.waitFor(() => expect(handled).toEqual(["/first"]), SOON);
  process.kill(two.pid, "SIGKILL");
  await vi.waitFor(() => expect(states).toContain("resumed"), SOON);
  release();
  await answeredOrTooLate(waiting, "/first");
  expect(await (await fetch(`${url.replace(site.origin, one.origin)}/second`)).text()).toBe("/second");
  expect(handled).toEqual(["/first", "/second"]);
  await vi.waitFor(async () => expect((await pool().query("select from relay_request")).rowCount).toBe(0), SOON);
});
