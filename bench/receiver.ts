import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "#core/postgres/free-port.ts";
import { cpuSeconds } from "./cost.ts";
import { load, type Prepared, type Result } from "./load.ts";
import { payload, SECRET } from "./receiver-processes.ts";

/**
 * `node bench/receiver.ts` compares receivers by ratios. Debian's `webhook` starts no command, because its rule does not match.
 */
const REQUESTS = Number(process.argv[2] ?? 5_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const PROCESSES = join(import.meta.dirname, "receiver-processes.ts");

type Target = { name: string; origin: string; pid: number; status: number; prepare(): Prepared };
const children: ChildProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), "keyhook-receiver-"));
const json = { "content-type": "application/json" };

async function startOurs(kind: "ours" | "ours-queue"): Promise<Target> {
  const { child, port } = await start(kind);
  const prepare = (): Prepared => {
    const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64");
    const headers = { ...json, "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
    return { method: "POST", path: "/webhooks/onPush", headers, body: payload };
  };
  const name = kind === "ours" ? "ours, waits for the handler" : "ours, queue";
  return { name, origin: `http://127.0.0.1:${port}`, pid: child.pid as number, status: kind === "ours" ? 200 : 202, prepare };
}

const hex = createHmac("sha256", SECRET).update(payload).digest("hex");

async function startOctokit(): Promise<Target> {
  const { child, port } = await start("octokit");
  const prepare = (): Prepared => {
    const own = { "x-github-delivery": randomUUID(), "x-github-event": "push", "x-hub-signature-256": `sha256=${hex}` };
    return { method: "POST", path: "/api/github/webhooks", headers: { ...json, ...own }, body: payload };
  };
  return {
    name: "@octokit/webhooks, no dedup",
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    status: 200,
    prepare,
  };
}

async function startDebian(): Promise<Target | undefined> {
  const isThere = () => spawnSync("webhook", ["-version"]).status === 0;
  if (!isThere()) spawnSync("apt-get", ["install", "-y", "-qq", "webhook"], { stdio: "ignore", timeout: 120_000 });
  if (!isThere()) {
    console.log("webhook (Debian) is skipped: it is not installed, and cannot be installed.");
    return undefined;
  }
  const hooks = join(folder, "hooks.json");
  const signature = {
    match: {
      type: "payload-hmac-sha256",
      secret: SECRET,
      parameter: { source: "header", name: "X-Hub-Signature-256" },
    },
  };
  const never = { match: { type: "value", value: "never", parameter: { source: "payload", name: "event.action" } } };
  writeFileSync(
    hooks,
    JSON.stringify([
      {
        id: "on-push",
        "execute-command": "/bin/true",
        "trigger-rule": { and: [signature, never] },
        "trigger-rule-mismatch-http-response-code": 200,
      },
    ]),
  );
  const port = await freePort();
  const child = spawn("webhook", ["-hooks", hooks, "-ip", "127.0.0.1", "-port", String(port)], { stdio: "ignore" });
  children.push(child);
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100 && !(await fetch(origin).catch(() => undefined)); tries++) await delay(50);
  const prepare = (): Prepared => {
    return {
      method: "POST",
      path: "/hooks/on-push",
      headers: { ...json, "x-hub-signature-256": `sha256=${hex}` },
      body: payload,
    };
  };
  return { name: "webhook (Debian), runs nothing", origin, pid: child.pid as number, status: 200, prepare };
}

async function start(kind: string): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(PROCESSES, [kind], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  children.push(child);
  const [port] = (await once(child, "message")) as [number];
  return { child, port };
}

async function measure(target: Target): Promise<Result & { cpuMs: number }> {
  const batch = () => Array.from({ length: REQUESTS }, target.prepare);
  await load(target.origin, batch(), target.status);
  const rounds: (Result & { cpuMs: number })[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const prepared = batch();
    const before = cpuSeconds(target.pid);
    const result = await load(target.origin, prepared, target.status);
    rounds.push({ ...result, cpuMs: ((cpuSeconds(target.pid) - before) / REQUESTS) * 1000 });
  }
  rounds.sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  return rounds[Math.floor(ROUNDS / 2)] as Result & { cpuMs: number };
}

try {
  const targets = [await startOurs("ours"), await startOurs("ours-queue"), await startOctokit(), await startDebian()];
  const load1 = loadavg()[0] ?? 0;
  console.log(
    `receivers: ${REQUESTS} deliveries of ${payload.length} bytes, median of ${ROUNDS}, load average ${load1.toFixed(1)}`,
  );
  console.log("                                  per second   ratio   p50 ms   p99 ms   CPU ms");
  let ours: number | undefined;
  for (const target of targets.filter((each) => each !== undefined)) {
    const { requestsPerSecond, p50Ms, p99Ms, cpuMs } = await measure(target);
    ours ??= requestsPerSecond;
    const cells = [
      target.name.padEnd(32),
      requestsPerSecond.toFixed(0).padStart(11),
      (ours / requestsPerSecond).toFixed(2).padStart(7),
      p50Ms.toFixed(1).padStart(8),
      p99Ms.toFixed(1).padStart(8),
      cpuMs.toFixed(3).padStart(8),
    ];
    console.log(cells.join(" "));
  }
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
