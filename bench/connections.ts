import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Pool } from "undici";
import { closeConnections } from "#core/db.ts";
import { stopListening } from "#core/notifications.ts";
import { type ServiceNode, startNodes } from "./chaos/nodes.ts";
import { versions } from "./chaos/service.ts";
import { addPlatform, eventRequest, startCounting } from "./events.ts";
import type { Prepared } from "./load.ts";
import { bearerRequests, codeRequest, introspections, tokenExchanges } from "./requests.ts";
import { EXCHANGED, prepareTarget } from "./targets.ts";

/**
 * `npm run bench -- connections`: the connections to PostgreSQL of installations of several sizes under too much load.
 * `node bench/connections.ts WEB WORKERS [POOL]` measures one size, with a PgBouncer of POOL connections.
 */
const SIZES = [
  [1, 1],
  [3, 2],
  [10, 4],
];
const POOL_SIZE = 20;
const SECONDS = 20;
const SAMPLE_MS = 50;
const PLATFORMS = 10;
/** Requests at a time for each web process: more than the process has connections. */
const AT_ONCE = 32;
const NAMES = ["", " pipelines", " direct", " notifications", " deliveries", " events", " migrate"].map(
  (name) => `keyhook${name}`,
);

const [web = 0, workers = 0, poolSize] = process.argv.slice(2).map(Number);
if (web > 0) await measure();
else {
  console.log(`${new Date().toISOString()}, ${versions()}, ${SECONDS} seconds\n`);
  console.log(`| web processes | workers | pooler | at once | ${NAMES.join(" | ")} | answers |`);
  console.log(`| --: | --: | --: | ${NAMES.map(() => "--:").join(" | ")} | --: | --- |`);
  const runs = SIZES.flatMap((size) => [size, [...size, POOL_SIZE]]);
  const statuses = runs.map((run) =>
    spawnSync(process.execPath, [import.meta.filename, ...run.map(String)], { stdio: "inherit" }),
  );
  process.exit(statuses.every(({ status }) => status === 0) ? 0 : 1);
}

async function measure(): Promise<void> {
  const named = (kind: ServiceNode["kind"], count: number) => Array.from({ length: count }, (_, nth) => [`${kind}${nth}`, kind]);
  const { service } = await startNodes(Object.fromEntries([...named("web", web), ...named("worker", workers)]), poolSize);
  const receiver = await startCounting();
  const watch = new pg.Client({ connectionString: service.databaseUrl() ?? "", application_name: "bench" });
  try {
    const next = await requestsTo(service, receiver.url);
    // This process closes its own connections, because they have the same names as the service's.
    await Promise.all([closeConnections(), stopListening()]);
    await watch.connect();
    const over = performance.now() + SECONDS * 1_000;
    const [most, answers] = await Promise.all([sample(watch, over), send(service.running.origin, next, over)]);
    const counts = ["all", ...NAMES].map((name) => most.get(name) ?? 0);
    const answered = [...answers].map(([status, count]) => `${count} × ${status}`).sort();
    console.log(`| ${[web, workers, poolSize ?? "none", ...counts, answered.join(", ")].join(" | ")} |`);
  } finally {
    await watch.end();
    receiver.stop();
    await service.stop();
  }
  process.exit();
}

async function requestsTo({ running, ownerId }: Awaited<ReturnType<typeof startNodes>>["service"], url: string) {
  const target = { ...(await prepareTarget(running, ownerId, EXCHANGED)), stop: async () => undefined };
  const platforms = await Promise.all(Array.from({ length: PLATFORMS }, () => addPlatform(ownerId, url)));
  const kinds: (readonly unknown[])[] = [
    await bearerRequests(target, target.paths.userinfo),
    await introspections(target),
    tokenExchanges(target, "profile"),
    [codeRequest(target)],
    platforms,
  ];
  let turn = 0;
  return (): Prepared => {
    const kind = kinds[turn % kinds.length] ?? [];
    const one = kind[Math.floor(turn++ / kinds.length) % kind.length];
    return kind === platforms ? eventRequest(one as (typeof platforms)[number]) : (one as Prepared);
  };
}

async function send(origin: string, next: () => Prepared, over: number): Promise<Map<string, number>> {
  const lanes = AT_ONCE * web;
  const requests = new Pool(origin, { connections: lanes, pipelining: 1 });
  const answers = new Map<string, number>();
  const lane = async () => {
    while (performance.now() < over) {
      const answer = await requests.request(next()).then(
        ({ statusCode, body }) => body.dump().then(() => String(statusCode)),
        ({ code }: { code: string }) => code,
      );
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await requests.close();
  return answers;
}

async function sample(client: pg.Client, over: number): Promise<Map<string, number>> {
  const most = new Map<string, number>();
  while (performance.now() < over) {
    const { rows } = await client.query<{ name: string; count: number }>(
      `select application_name as name, count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() group by 1`,
    );
    const all = { name: "all", count: rows.reduce((sum, { count }) => sum + count, 0) };
    for (const { name, count } of [all, ...rows]) most.set(name, Math.max(most.get(name) ?? 0, count));
    await delay(SAMPLE_MS);
  }
  return most;
}
