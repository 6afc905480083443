import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { closeConnections, pool } from "#core/db.ts";
import { childEnvironment, provideSettings } from "#core/env.ts";
import { newId } from "#core/ids.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { prepareSchema } from "#core/postgres/prepare-schema.ts";
import { connectionTo, installBullMq, loadBullMq } from "./bullmq.ts";
import { cpuSeconds } from "./cost.ts";
import type { Sent } from "./webhook-processes.ts";
import { fillEvents, insertEvents, makeWebhooks, payloadOf, SECRET } from "./webhook-rows.ts";

/** `npm run bench:webhooks`: deliveries per second, and how long an event takes to arrive. Only the ratios are meaningful. */
const DELIVERIES = Number(process.argv[2] ?? 10_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const RATES = [100, 500, 1_000];
const RATE_SECONDS = 8;
const PROCESSES = join(import.meta.dirname, "webhook-processes.ts");

const dataDir = mkdtempSync(join(tmpdir(), "keyhook-bench-"));
const children = new Set<ChildProcess>();

function start(...given: string[]): ChildProcess {
  const child = fork(PROCESSES, given, { env: childEnvironment(), stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

const nextMessage = async <T>(child: ChildProcess): Promise<T> => (await once(child, "message"))[0] as T;

async function started(...given: string[]): Promise<ChildProcess> {
  const child = start(...given);
  await nextMessage(child);
  return child;
}

async function stopped(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.send("stop");
  await exit;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const child of children) child.kill("SIGKILL");
    void server.stop().finally(() => process.exit(1));
  });
}

const server = await startEmbedded(dataDir);
await prepareSchema(server);
provideSettings({
  DATABASE_URL: server.url,
  DATABASE_OWNER_URL: server.ownerUrl,
  DATA_DIR: dataDir,
  SECRET_KEY: "of no use anywhere but in a benchmark",
  OUTBOUND_ALLOW_CIDRS: "127.0.0.1",
  LOG_LEVEL: "warn",
  WEBHOOK_TRIGGERS_PER_DAY: "1000000",
} as Parameters<typeof provideSettings>[0]);

const receiver = start("receive");
const { port } = await nextMessage<{ port: number }>(receiver);
const url = `http://127.0.0.1:${port}/hook`;

async function received(): Promise<{ count: number; arrived: number[] }> {
  receiver.send("tell");
  return nextMessage(receiver);
}

async function untilSent(): Promise<void> {
  await pool().query("select pg_notify('event', '')");
  await untilEmpty("event", "fanned_out_at is null");
  await untilEmpty("delivery_queue");
}

async function untilEmpty(table: string, where = "true"): Promise<void> {
  for (;;) {
    const { rows } = await pool().query(`select from ${table} where ${where} limit 1`);
    if (rows.length === 0) return;
    await delay(20);
  }
}

type Row = { name: string; perSecond: number; cpuMs: number };

async function timed(name: string, pids: () => number[], run: () => Promise<void>): Promise<Row> {
  const used = () => pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = used();
  const begin = performance.now();
  await run();
  const seconds = (performance.now() - begin) / 1000;
  return { name, perSecond: DELIVERIES / seconds, cpuMs: ((used() - before) / DELIVERIES) * 1000 };
}

const pidOf = (child: ChildProcess) => child.pid ?? 0;
const postgresPid = () => Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);

const sent: Sent = {
  url,
  headers: { "content-type": "application/json", "webhook-id": newId(), "webhook-timestamp": "1", "x-webhook-secret": SECRET },
  body: payloadOf({ ownerId: newId(), repoId: newId() }, "n0"),
};

async function runBare(): Promise<Row> {
  const child = await started("bare", String(DELIVERIES), JSON.stringify(sent));
  const row = await timed(
    "bare undici loop",
    () => [pidOf(child)],
    async () => {
      child.send("go");
      await nextMessage(child);
    },
  );
  await once(child, "exit").catch(() => undefined);
  return row;
}

async function runOurs(workers: number): Promise<Row> {
  const running = await Promise.all(Array.from({ length: workers }, () => started("work")));
  await fillEvents(1_000, url);
  await untilSent();
  // The events are announced when the measurement starts. Until then, workers look for events only every few seconds.
  await fillEvents(DELIVERIES, url);
  const row = await timed(
    `ours, ${workers} worker${workers > 1 ? "s" : ""}`,
    () => [...running.map(pidOf), postgresPid()],
    untilSent,
  );
  await Promise.all(running.map(stopped));
  const { rows } = await pool().query<{ stored: string }>("select count(*) as stored from attempt where outcome = 'delivered'");
  await pool().query("delete from attempt");
  if (Number(rows[0]?.stored) !== DELIVERIES + 1_000) throw new Error(`${rows[0]?.stored} attempts were stored`);
  return row;
}

async function runBullmq(): Promise<Row | string> {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
  } catch {
    return "BullMQ is left out: there is no redis-server on this machine.";
  }
  const directory = join(dataDir, "bullmq");
  try {
    installBullMq(directory);
  } catch {
    return "BullMQ is left out: it cannot be installed, because the registry cannot be reached.";
  }
  const redisPort = await freePort();
  const redis = spawn(
    "redis-server",
    ["--port", String(redisPort), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", dataDir],
    {
      stdio: "ignore",
    },
  );
  children.add(redis);
  await delay(500);
  const { Queue } = loadBullMq(directory);
  const queue = new Queue("hooks", connectionTo(redisPort));
  await queue.addBulk(Array.from({ length: DELIVERIES }, () => ({ name: "hook", data: sent })));
  const child = await started("bullmq", String(redisPort), directory);
  const row = await timed(
    "BullMQ on Redis",
    () => [pidOf(child), redis.pid ?? 0],
    async () => {
      child.send("go");
      while ((await queue.getCompletedCount()) < DELIVERIES) await delay(20);
    },
  );
  await stopped(child);
  await queue.close();
  redis.kill("SIGTERM");
  await once(redis, "exit");
  return row;
}

async function runGraphile(): Promise<Row> {
  const connectionString = server.superuserUrl;
  const { runMigrations, Logger } = await import("graphile-worker");
  await runMigrations({ connectionString, logger: new Logger(() => () => undefined) });
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`select count(graphile_worker.add_job('hook', $1::json)) from generate_series(1, $2::int)`, [
    JSON.stringify(sent),
    DELIVERIES,
  ]);
  const child = await started("graphile", connectionString);
  const row = await timed(
    "graphile-worker",
    () => [pidOf(child), postgresPid()],
    async () => {
      child.send("go");
      for (let left = 1; left > 0; await delay(20)) {
        const { rows } = await client.query<{ left: string }>(
          "select count(*) as left from (select from graphile_worker._private_jobs limit 1) j",
        );
        left = Number(rows[0]?.left);
      }
    },
  );
  await stopped(child);
  await client.end();
  return row;
}

const percentile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function runLatency(rate: number): Promise<string> {
  const worker = await started("work");
  const of = await makeWebhooks(1, url);
  await sendAtRate(of, rate, rate * 2);
  await received();
  const total = rate * RATE_SECONDS;
  await sendAtRate(of, rate, total);
  const { arrived } = await received();
  await stopped(worker);
  const sorted = arrived.sort((a, b) => a - b);
  return `| ${rate}/s | ${sorted.length} of ${total} | ${percentile(sorted, 0.5).toFixed(1)} ms | ${percentile(sorted, 0.99).toFixed(1)} ms |`;
}

/** All events that became due since the last statement go into the next one, as in a busy service. */
async function sendAtRate(of: { ownerId: string; repoId: string }, rate: number, total: number): Promise<void> {
  const begin = performance.now();
  for (let nth = 0; nth < total; await delay(1)) {
    const due = Math.min(total, Math.floor(((performance.now() - begin) / 1000) * rate)) - nth;
    if (due === 0) continue;
    const tag = `at-${performance.timeOrigin + performance.now()}`;
    await insertEvents(
      of,
      Array.from({ length: due }, () => tag),
    );
    await pool().query("select pg_notify('event', '')");
    nth += due;
  }
  await untilSent();
}

const median = (rows: Row[]): Row => {
  const sorted = rows.sort((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] as Row;
};

try {
  const notes: string[] = [];
  const parts: (() => Promise<Row | string>)[] = [runBare, () => runOurs(1), () => runOurs(2), runBullmq, runGraphile];
  const found = new Map<string, Row[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const part of parts) {
      const row = await part();
      process.stderr.write(`${typeof row === "string" ? row : `${row.name}: ${Math.round(row.perSecond)}/s`}\n`);
      if (typeof row === "string") notes.push(row);
      else found.set(row.name, [...(found.get(row.name) ?? []), row]);
    }
  }
  const rows = [...found.values()].map(median);
  const bareRate = rows[0]?.perSecond ?? 1;
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const { rows: postgres } = await pool().query<{ version: string }>("select version()");
  console.log(
    `${new Date().toISOString()}, Keyhook ${version}, Node ${process.version}, ${postgres[0]?.version.split(" on ")[0]},`,
  );
  console.log(`${cpus().length} cores (${cpus()[0]?.model}); ${DELIVERIES} deliveries, the median of ${ROUNDS} rounds\n`);
  console.log("| what | deliveries/s | of the bare loop | CPU of its processes per delivery |\n|---|---|---|---|");
  for (const { name, perSecond, cpuMs } of rows) {
    console.log(`| ${name} | ${Math.round(perSecond)} | ${(perSecond / bareRate).toFixed(2)} | ${cpuMs.toFixed(2)} ms |`);
  }
  for (const note of new Set(notes)) console.log(`\n${note}`);
  console.log("\n| events | arrived | p50 | p99 |\n|---|---|---|---|");
  for (const rate of RATES) console.log(await runLatency(rate));
} finally {
  for (const child of children) child.kill("SIGKILL");
  await closeConnections();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
