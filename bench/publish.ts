import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { pool } from "#core/db.ts";
import { timeOfOrderedId } from "#core/ids.ts";
import { type Action, prepareActions } from "./actions.ts";

import { startChaosService, versions } from "./chaos/service.ts";
import { cpuSeconds } from "./cost.ts";
import { addPlatform, eventRequest, type SomePlatform } from "./events.ts";
import { startPlainSender } from "./plain-sender.ts";

/**
 * `node bench/publish.ts [SECONDS [PLATFORMS]]`, part of `npm run bench:webhooks`: a whole service with a receiver on one
 * machine.
 * - `POST /api/events` over 16 connections, compared with a plain sender of webhooks: messages per second, and the CPU time,
 * commits and updated rows of each message.
 * - The time from the request to the arrival at a fixed rate, also beside a target that never responds.
 * - The time from the recording of pushes, commits and comments to the arrival of their events.
 * - The CPU time of an idle worker.
 */
const SECONDS = Number(process.argv[2] ?? 10);
const PLATFORMS = Number(process.argv[3] ?? 40);
const CONNECTIONS = 16;
/** Messages a second to the target that never responds. */
const HANGING = 20;

type Arrival = { sinceRequest: number; sinceEvent: number };
const arrived: Arrival[] = [];
const receiver = createServer(async (req, res) => {
  const now = performance.timeOrigin + performance.now();
  const payload = JSON.parse(await text(req)) as { updatedRefs?: [{ newSha: string }] };
  res.end("ok");
  arrived.push({
    sinceRequest: now - Number.parseInt(payload.updatedRefs?.[0].newSha ?? "", 16),
    sinceEvent: req.headers["webhook-id"] ? now - timeOfOrderedId(String(req.headers["webhook-id"])).getTime() : 0,
  });
}).listen(0, "127.0.0.1");
const hanging = createServer(() => undefined).listen(0, "127.0.0.1");
await Promise.all([once(receiver, "listening"), once(hanging, "listening")]);
const urlOf = (server: typeof receiver) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;

const bursts: string[] = [];
const rates: string[] = [];
const plain = await startPlainSender(urlOf(receiver));
let platforms: SomePlatform[] = [{ source: "https://bench.example", token: "" }];
let { pids, pool: measured } = plain;
let requests = new Pool(plain.origin, { connections: CONNECTIONS, pipelining: 1 });
try {
  await burst(1);
  bursts.push(`| plain sender, one by one ${await burst(1)}`);
  for (const rate of [100, 300]) rates.push(`| plain sender, ${rate}/s | ${await paced(rate)}`);
} finally {
  await Promise.all([requests.close(), plain.stop()]);
}

const service = await startChaosService();
requests = new Pool(service.running.origin, { connections: CONNECTIONS, pipelining: 1 });
try {
  const { pidOf } = service.running;
  measured = pool();
  pids = { web: pidOf("server.ts"), worker: pidOf("worker/index.ts"), database: pidOf("database") };
  platforms = await Promise.all(Array.from({ length: PLATFORMS }, () => addPlatform(service.ownerId, urlOf(receiver))));
  const bad = await addPlatform(service.ownerId, urlOf(hanging));
  console.log(`${new Date().toISOString()}, ${versions()}; load average ${loadavg()[0]?.toFixed(1)}; ${PLATFORMS} platforms\n`);
  // Later, the worker would retry the target that never responds. In its first minute, the worker compiles its code.
  await delay(60_000);
  const [idleSince, begin] = [await used(), performance.now()];
  await delay(30_000);
  const idle = ((await used()).worker - idleSince.worker) / (performance.now() - begin);
  console.log(`an idle worker: ${(idle * 100_000).toFixed(2)} % of a core\n`);
  console.log("| messages | accepted/s | delivered/s | CPU per message | web | worker | database | commits | rows updated |");
  console.log("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
  await burst(1);
  bursts.push(`| one by one ${await burst(1)}`, `| batches of 50 ${await burst(50)}`);
  console.log(bursts.join("\n"));
  for (const rate of [100, 300]) {
    rates.push(
      `| ${rate}/s | ${await paced(rate)}`,
      `| ${rate}/s beside a target that never answers | ${await paced(rate, bad)}`,
    );
  }
  console.log(`\n| one by one | arrival p50 | p99 |\n|---|--:|--:|\n${rates.join("\n")}`);
  const { actions, stop } = await prepareActions(service, urlOf(receiver));
  console.log("\n| event to arrival | done/s | refused | p50 | p99 |\n|---|--:|--:|--:|--:|");
  for (const action of actions)
    for (const rate of [1, 50]) console.log(`| ${action.name}, ${rate}/s | ${await timed(action, rate)}`);
  stop();
} finally {
  await requests.close();
  await service.stop();
  for (const server of [receiver, hanging]) {
    server.closeAllConnections();
    server.close();
  }
}

async function send(count: number, nth: number, to?: SomePlatform): Promise<void> {
  const platform = to ?? (platforms[nth % platforms.length] as SomePlatform);
  const sentAt = Math.round(performance.timeOrigin + performance.now());
  const { statusCode, body } = await requests.request(eventRequest(platform, count, sentAt.toString(16)));
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(answer);
}

async function burst(batch: number): Promise<string> {
  arrived.length = 0;
  let turn = 0;
  const before = await used();
  const begin = performance.now();
  const sending = Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() - begin < SECONDS * 1_000) await send(batch, turn++);
  });
  await Promise.all(sending);
  const sent = turn * batch;
  const accepted = sent / ((performance.now() - begin) / 1_000);
  await untilArrived(sent);
  const delivered = sent / ((performance.now() - begin) / 1_000);
  const after = await used();
  const cpu = (["web", "worker", "database"] as const).map((part) => ((after[part] - before[part]) / sent) * 1_000);
  const each = (part: "commits" | "updated") => ((after[part] - before[part]) / sent).toFixed(2);
  const parts = [cpu.reduce((sum, one) => sum + one), ...cpu].map((each) => `${each.toFixed(2)} ms`).join(" | ");
  return `| ${accepted.toFixed(0)} | ${delivered.toFixed(0)} | ${parts} | ${each("commits")} | ${each("updated")} |`;
}

async function paced(rate: number, beside?: SomePlatform): Promise<string> {
  arrived.length = 0;
  const extra = beside && atRate(HANGING, () => send(1, 0, beside));
  const sent = await atRate(rate, (nth) => send(1, nth));
  await extra;
  await untilArrived(sent);
  return percentiles(arrived.map(({ sinceRequest }) => sinceRequest));
}

async function timed({ make }: Action, rate: number): Promise<string> {
  arrived.length = 0;
  let refused = 0;
  const begin = performance.now();
  const made = await atRate(rate, (nth) => make(nth).catch(() => void refused++));
  const done = made - refused;
  const perSecond = done / ((performance.now() - begin) / 1_000);
  await untilArrived(done);
  return `${perSecond.toFixed(1)} | ${refused} | ${percentiles(arrived.map(({ sinceEvent }) => sinceEvent))}`;
}

async function atRate(rate: number, make: (nth: number) => Promise<void>): Promise<number> {
  const begin = performance.now();
  const making: Promise<void>[] = [];
  for (let nth = 0; nth < rate * SECONDS; nth++) {
    await delay(Math.max(0, begin + (nth * 1_000) / rate - performance.now()));
    making.push(make(nth));
  }
  await Promise.all(making);
  return making.length;
}

async function untilArrived(count: number): Promise<void> {
  while (arrived.length < count) await delay(20);
}

function percentiles(times: number[]): string {
  const sorted = times.sort((a, b) => a - b);
  return [0.5, 0.99].map((share) => `${sorted[Math.floor(sorted.length * share)]?.toFixed(1)} ms |`).join(" ");
}

/** Postgres may report its counts a second late. */
async function used() {
  await delay(1_500);
  const { rows } = await measured.query<{ commits: number; updated: number }>(
    `select xact_commit::float8 as commits, tup_updated::float8 as updated from pg_stat_database where datname = current_database()`,
  );
  return {
    web: cpuSeconds(pids.web),
    worker: cpuSeconds(pids.worker),
    database: cpuSeconds(pids.database),
    ...(rows[0] ?? { commits: 0, updated: 0 }),
  };
}
