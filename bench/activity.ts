import { loadavg } from "node:os";
import type { DeliveryFilter } from "@keyhook/sdk";
import { pool } from "#core/db.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { deliveryConditions } from "#core/webhooks/activity/delivery-conditions.ts";
import { readInOrder, SEARCH_WINDOW } from "#core/webhooks/activity/list-deliveries.ts";
import { sparklines } from "#core/webhooks/activity/sparklines.ts";
import { cpuSeconds } from "./cost.ts";
import { get, runOnInstance, scansOf, timesOf, userWithToken } from "./instance.ts";

/** `node bench/activity.ts [attempts]`: each part of a webhook's activity must stay under 50 ms at the 95th percentile. */
const ATTEMPTS = Number(process.argv[2] ?? 10_000_000);
const DAYS = 30;
const DAY_SECONDS = 86_400;
const WEBHOOKS = 2_000;
const AIM_MS = 50;
const REQUESTS = 60;
// Every twentieth delivery had a second attempt.
const PER_DAY = Math.round(ATTEMPTS / 1.05 / DAYS);

const BUSY = "b".repeat(24);
const webhookAt = (n: number) => `a${n.toString(16).padStart(23, "0")}`;
const QUIET = webhookAt(WEBHOOKS + 1);

const TABLES = "^(delivery|attempt)_2";

await runOnInstance(async (origin) => {
  let isGood = true;
  const begin = performance.now();
  const { token, sample } = await fill();
  const load = loadavg()[0]?.toFixed(1);
  console.log(`filled in ${Math.round((performance.now() - begin) / 1_000)} s; load of the machine ${load}`);
  console.log(`${await sizes()}; server time, aim: p95 under ${AIM_MS} ms, and no table read from end to end`);
  const day = (ago: number) => new Date(Date.now() - ago * DAY_SECONDS * 1_000).toISOString();
  const cursor = (ago: number) => `${Math.floor(Date.now() / 1000 - ago * DAY_SECONDS).toString(16)}${"0".repeat(16)}`;
  const requests: [name: string, path: string][] = [
    ["the newest 25", `${BUSY}/deliveries`],
    ["the newest 100", `${BUSY}/deliveries?limit=100`],
    ["15 days down", `${BUSY}/deliveries?cursor=${cursor(15)}`],
    ["of one day", `${BUSY}/deliveries?since=${day(8)}&until=${day(7)}`],
    ["of a webhook that has one a week", `${QUIET}/deliveries`],
    ["failed", `${BUSY}/deliveries?state=failed`],
    ["failed, 20 days down", `${BUSY}/deliveries?state=failed&cursor=${cursor(20)}`],
    ["over the limit", `${BUSY}/deliveries?state=rate_limited`],
    ["waiting", `${BUSY}/deliveries?state=waiting`],
    ["answered 5xx", `${BUSY}/deliveries?status=5xx`],
    ["a repository", `${BUSY}/deliveries?repo=${encodeURIComponent("mara/repo-7")}`],
    ["a repository without deliveries", `${BUSY}/deliveries?repo=${encodeURIComponent("mara/no")}`],
    ["a word that is in many", `${BUSY}/deliveries?text=repo-1`],
    ["a word that no delivery has", `${BUSY}/deliveries?text=zeppelin`],
    ["the same word, failed, of a week", `${BUSY}/deliveries?text=zeppelin&state=failed&since=${day(7)}`],
    ["a delivery's id", `${BUSY}/deliveries?text=${sample.id}`],
    ["an event's id", `${BUSY}/deliveries?text=${sample.eventId}`],
    ["one delivery with its attempts", `${BUSY}/deliveries/${sample.id}`],
    ["chart of 24 hours", `${BUSY}/chart?range=24h`],
    ["chart of 30 days", `${BUSY}/chart?range=30d`],
  ];
  console.log("                                     p50 ms   p95 ms   p99 ms   CPU ms  scans");
  const report = (name: string, { p50, p95, p99, cpuMs, scans }: Measured) => {
    isGood &&= p95 < AIM_MS && scans === 0;
    const columns = [p50, p95, p99, cpuMs].map((ms) => ms.toFixed(1).padStart(8)).join(" ");
    console.log(`${name.padEnd(34)} ${columns} ${String(scans).padStart(6)}`);
  };
  for (const [name, path] of requests) report(name, await measure(() => get(`${origin}/api/settings/webhooks/${path}`, token)));
  const hundred = Array.from({ length: 100 }, (_, n) => webhookAt(n));
  report("sparklines of 100 webhooks", await measure(() => sparklines(hundred)));
  for (const [name, filter] of [
    ["the newest 25", {}],
    ["a word that no delivery has", { text: "zeppelin" }],
    ["failed", { state: "failed" }],
  ] as const) {
    console.log(`\n${name}: ${await planOf(filter)}`);
  }
  return isGood;
});

async function fill(): Promise<{ token: string; sample: { id: string; eventId: string } }> {
  const { id: owner, token } = await userWithToken("webhooks");
  await pool().query(
    `INSERT INTO webhook (id, owner_id, owner_kind, url, domains)
       SELECT unnest($1::text[]), $2, 'user', 'https://hooks.example.test/', '{repo}'`,
    [[BUSY, QUIET, ...Array.from({ length: WEBHOOKS }, (_, n) => webhookAt(n))], owner],
  );
  await asOwner(
    `SELECT make_delivery_partitions((now() AT TIME ZONE 'UTC')::DATE - ${DAYS - 1}, (now() AT TIME ZONE 'UTC')::DATE)`,
  );
  const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  for (let nth = 0; nth < DAYS; nth++) {
    const begin = today - (DAYS - 1 - nth) * DAY_SECONDS;
    const length = nth === DAYS - 1 ? Math.max(60, Math.floor(Date.now() / 1_000) - begin) : DAY_SECONDS;
    await asOwner(dayOf(begin, length, nth * PER_DAY));
    process.stderr.write(`\r${nth + 1} of ${DAYS} days`);
  }
  process.stderr.write("\r               \r");
  await asOwner(`INSERT INTO webhook_hour SELECT w, to_timestamp(${today} - h * 3600), 100, 1, 97, 3, array_fill(2, ARRAY[46])
    FROM unnest('{${[BUSY, QUIET, ...Array.from({ length: 100 }, (_, n) => webhookAt(n))].join()}}'::text[]) w, generate_series(0, 719) h`);
  for (const table of ["delivery", "attempt", "webhook_hour", "delivery_queue", "event"])
    await asOwner(`VACUUM ANALYZE ${table}`);
  const { rows } = await pool().query<{ id: string; eventId: string }>(
    `SELECT id, event_id AS "eventId" FROM delivery WHERE webhook_id = $1 AND attempts = 2 AND id < $2 ORDER BY id DESC LIMIT 1`,
    [BUSY, `${(today - 10 * DAY_SECONDS).toString(16)}${"0".repeat(16)}`],
  );
  const [sample] = rows;
  if (!sample) throw new Error("no sample");
  await pool().query(
    `INSERT INTO event (id, scope, action, repo_id, repo_type, owner_id, is_private, payload, created_at, fanned_out_at)
       SELECT event_id, scope, action, repo_id, repo_type, owner_id, false, '{"event":{"scope":"repo","action":"update"}}', created_at, created_at
       FROM delivery WHERE id = $1`,
    [sample.id],
  );
  return { token, sample };
}

function dayOf(begin: number, length: number, from: number): string {
  return `SET synchronous_commit = off;
    CREATE TEMP TABLE made AS
      SELECT lpad(to_hex(${begin} + (n::bigint * ${length} / ${PER_DAY})::int), 8, '0') || lpad(to_hex(${from} + n), 16, '0') AS id,
        CASE WHEN n % 10 = 0 THEN '${BUSY}' WHEN n = 7 AND ${from} % 7 = 0 THEN '${QUIET}'
          ELSE 'a' || lpad(to_hex((n * 7919) % ${WEBHOOKS}), 23, '0') END AS webhook_id,
        to_timestamp(${begin} + n::bigint * ${length} / ${PER_DAY}) AS at, n,
        CASE WHEN n % 130 = 0 THEN 'rate_limited' WHEN n % 70 = 0 THEN 'failed' ELSE 'delivered' END AS state
      FROM generate_series(0, ${PER_DAY - 1}) AS n;
    INSERT INTO delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state, attempts,
        last_outcome, last_status, last_duration_ms, created_at, finished_at)
      SELECT id, webhook_id, 'c' || right(webhook_id, 23), left(id, 8) || 'e' || right(id, 15), 'event', 'repo.content', 'update',
        'd' || right(webhook_id, 23), 'model', 'mara/repo-' || n % 50, state, CASE WHEN n % 20 = 0 THEN 2 ELSE 1 END,
        CASE state WHEN 'failed' THEN 'rejected' WHEN 'delivered' THEN 'delivered' END,
        CASE state WHEN 'failed' THEN 503 WHEN 'delivered' THEN 200 END, 41, at, at FROM made;
    INSERT INTO attempt (id, delivery_id, webhook_id, owner_id, number, kind, started_at, outcome, url, signature, status, response_headers,
        response_body, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms)
      SELECT left(m.id, 8) || to_hex(k) || right(m.id, 15), m.id, m.webhook_id, 'c' || right(m.webhook_id, 23), k, 'first', m.at, 'delivered',
        'https://hooks.example.test/', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=', 200,
        '{"content-type":"text/plain","date":"Sun, 22 Nov 2026 10:00:00 GMT","connection":"close"}', 'ok', 1, 2, 8, 29, 41
      FROM made m, generate_series(1, CASE WHEN m.n % 20 = 0 THEN 2 ELSE 1 END) k;
    INSERT INTO delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, tries, due_at)
      SELECT id, webhook_id, '', '', 'hooks.example.test:443', 'retry', 2, 3, now() + interval '1 day' FROM made WHERE n % 3000 = 0;`;
}

async function sizes(): Promise<string> {
  const { rows } = await pool().query<{ name: string; count: string; bytes: string }>(
    `SELECT parent.relname AS name, sum(c.reltuples)::bigint AS count, sum(pg_total_relation_size(c.oid))::bigint AS bytes
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
       WHERE parent.relname IN ('delivery', 'attempt') AND c.relkind = 'r' GROUP BY 1 ORDER BY 1`,
  );
  return rows
    .map(
      ({ name, count, bytes }) =>
        `${Number(count).toLocaleString("en")} rows of ${name} (${(Number(bytes) / 2 ** 30).toFixed(1)} GiB)`,
    )
    .join(", ");
}

/** `cpuMs` covers this process and the database, because on a busy machine the elapsed time says little. */
type Measured = { p50: number; p95: number; p99: number; cpuMs: number; scans: number };

async function measure(ask: () => Promise<unknown>): Promise<Measured> {
  const before = await scansOf(TABLES);
  let asked = 0;
  const cpu = cpuSeconds(process.pid);
  const times = await timesOf(REQUESTS, () => ask().then(() => asked++));
  const cpuMs = ((cpuSeconds(process.pid) - cpu) * 1_000) / asked;
  return { ...times, cpuMs, scans: (await scansOf(TABLES)) - before };
}

async function planOf(filter: DeliveryFilter): Promise<string> {
  const { source, matching, values } = deliveryConditions(BUSY, filter, { from: null, before: null });
  const where = matching.length > 0 ? `WHERE ${matching.join(" AND ")}` : "";
  const window = matching.length > 0 ? SEARCH_WINDOW : 26;
  const [row] = await readInOrder<{ "QUERY PLAN": [{ Plan: PlanNode; "Execution Time": number; "Planning Time": number }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM (SELECT d.* ${source} LIMIT ${window}) d ${where} ORDER BY d.webhook_id DESC, d.id DESC LIMIT 26`,
    values,
  );
  const [plan] = row?.["QUERY PLAN"] ?? [];
  if (!plan) throw new Error("no plan");
  const nodes = flat(plan.Plan);
  const scans = nodes.filter((node) => node["Relation Name"] && node["Actual Loops"] > 0);
  const kinds = [...new Set(nodes.map((node) => node["Node Type"]))].join(" > ");
  const indexes = [...new Set(scans.map((node) => (node["Index Name"] ?? "none").replace(/_\d{8}|\d+$/g, "")))].join(", ");
  const rows = scans.reduce((sum, node) => sum + node["Actual Rows"] * node["Actual Loops"], 0);
  const buffers = plan.Plan["Shared Hit Blocks"] + plan.Plan["Shared Read Blocks"];
  return `${kinds}; ${scans.length} partitions by ${indexes}; ${rows} rows, ${buffers} buffers, planned in ${plan["Planning Time"].toFixed(1)} ms, run in ${plan["Execution Time"].toFixed(1)} ms`;
}

type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
};

function flat(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}
