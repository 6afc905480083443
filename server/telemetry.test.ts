import { json } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { from, signedInPerson } from "#core/accounts/testing/people.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { startWorld, type World } from "#core/oauth/testing/world.ts";
import { type OwnProcess, startOwnProcess } from "#core/operations/metrics/process-metrics.ts";
import { startTraces } from "#core/operations/traces/start-traces.ts";
import { site } from "#core/outbound/testing/sites.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { createWebhook } from "#core/webhooks/manage/create-webhook.ts";
import { fanOutAll } from "#core/webhooks/testing/fan-out.ts";
import { mustGit, remote, tokenOf, workingCopy } from "../api/testing/git-client.ts";
import { handleRequest } from "./handle-request.ts";

const TOKEN = "a token for metrics only".replaceAll(" ", "-");
let world: World;
let own: OwnProcess;
let engine: DeliveryEngine;
beforeAll(async () => {
  world = await startWorld((req, res) => handleRequest(async (_, page) => void page.writeHead(404).end(), req, res));
});
beforeEach(() => {
  provideSettings({ METRICS_TOKEN: TOKEN, OUTBOUND_ALLOW_CIDRS: "127.0.0.1" });
  own = startOwnProcess("web");
  engine = new DeliveryEngine();
});
afterEach(async () => {
  await own.stop();
  provideSettings({ METRICS_TOKEN: "", OUTBOUND_ALLOW_CIDRS: "", OTEL_EXPORTER_OTLP_ENDPOINT: "" });
});
afterAll(() => world.stop());

const scrape = (token?: string) =>
  fetch(`${world.origin}/metrics`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

async function samples(): Promise<{ text: string; value(name: string, ...labels: string[]): number | undefined }> {
  const response = await scrape(TOKEN);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/plain")]);
  const text = await response.text();
  const value = (name: string, ...labels: string[]) => {
    const line = text
      .split("\n")
      .find((one) => new RegExp(`^${name}[{ ]`).test(one) && labels.every((label) => one.includes(label)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
  };
  return { text, value };
}

async function pushed(hook: string) {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const watched = [{ type: "model" as const, name: repo.fullName }];
  await fanOutAll();
  await createWebhook(ada.actor, { kind: "user", id: ada.id }, { url: hook, watched, domains: ["repo"] }, from);
  const url = remote(world.origin, `/${repo.fullName}`, await tokenOf(ada));
  await mustGit(await workingCopy(), ["push", "--quiet", url, "main"]);
  return { ada, repo };
}

async function deliverAll(): Promise<void> {
  await fanOutAll();
  engine.start();
  await expect.poll(async () => db().deliveryQueue.count({ where: { attempts: 0 } }), { timeout: 10_000 }).toBe(0);
  await engine.stop();
}

describe("GET /metrics", () => {
  test("does not exist without METRICS_TOKEN, and requires that token from every address", async () => {
    for (const wrong of [undefined, "", "x", `${TOKEN}x`, TOKEN.toUpperCase()]) {
      const response = await scrape(wrong);
      expect([wrong, response.status, response.headers.get("www-authenticate")]).toEqual([wrong, 401, "Bearer"]);
    }
    expect((await scrape(TOKEN)).status).toBe(200);
    provideSettings({ METRICS_TOKEN: "" });
    for (const token of [undefined, TOKEN, ""]) expect((await scrape(token)).status).toBe(404);
  });

  test("reports the queue, attempts and requests of all processes", async () => {
    const answers = [200, 500];
    const hook = await site((req, res) => void req.resume().on("end", () => res.writeHead(answers.shift() ?? 200).end()));
    await pushed(hook.url);
    await pushed(hook.url);
    await deliverAll();
    const report = JSON.stringify([
      {
        name: "keyhook_delivery_attempts_total",
        help: "h",
        type: "counter",
        aggregator: "sum",
        values: [{ value: 7, labels: { outcome: "delivered", instance: "elsewhere:1" } }],
      },
    ]);
    for (const [instance, ago] of [
      ["elsewhere", 1],
      ["gone", 300],
    ] as const) {
      await pool().query(
        `insert into process_heartbeat (id, kind, host, pid, version, metrics, seen_at) values ($1, 'worker', $2, 1, '1', $3, now() - make_interval(secs => $4))`,
        [newId(), instance, report.replace("elsewhere", instance), ago],
      );
    }
    const later = async () => (await samples()).value("keyhook_deliveries_queued", 'state="later"');
    await expect.poll(later, { timeout: 10_000, interval: 300 }).toBeGreaterThanOrEqual(1);
    const { text, value } = await samples();
    const attempts = "keyhook_delivery_attempts_total";
    expect(value(attempts, 'outcome="delivered"', 'kind="first"', 'process="web"')).toBe(1);
    expect(value(attempts, 'outcome="rejected"', 'kind="first"', 'process="web"')).toBe(1);
    expect(value(attempts, 'instance="elsewhere:1"')).toBe(7);
    expect(text).not.toContain("gone:1");
    expect(value("keyhook_delivery_attempt_duration_seconds_count", 'outcome="delivered"')).toBe(1);
    expect(value("keyhook_delivery_delay_seconds_count")).toBe(2);
    expect(value("keyhook_deliveries_queued", 'state="due"')).toBe(0);
    expect(value("keyhook_deliveries_oldest_due_seconds")).toBe(0);
    expect(value("keyhook_events_waiting")).toBe(0);
    expect(value("keyhook_events_fanned_out_total")).toBeGreaterThanOrEqual(2);
    expect(value("keyhook_database_up")).toBe(1);
    expect(value("keyhook_processes", 'kind="worker"')).toBe(1);
    expect(value("keyhook_database_pool_connections", 'state="busy"')).toBeGreaterThanOrEqual(0);
    expect(value("keyhook_queue_places", 'queue="git_pushes"', 'state="taken"', 'process="web"')).toBe(0);
    expect(value("keyhook_queue_places", 'queue="git_objects"', 'state="waited_for"')).toBe(0);
    expect(value("keyhook_queue_refused_total", 'queue="git_fetches"')).toBe(0);
    expect(value("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
    expect(value("keyhook_request_duration_seconds_count", 'door="git"', 'status="2xx"')).toBeGreaterThanOrEqual(4);
    const described = text.split("\n").filter((line) => line.startsWith("# TYPE "));
    expect(new Set(described).size).toBe(described.length);
    expect(text).not.toMatch(/tide-|127\.0\.0\.1|whsec_/);
  });
});

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: object }[];
  status: { code?: number };
};
type Export = { resourceSpans: { resource: object; scopeSpans: { spans: Span[] }[] }[] };

describe("traces", () => {
  test("lead from a push through the fan-out to the attempts of its deliveries, and are not sent to receivers", async () => {
    const exported: Span[] = [];
    let resources = "";
    const collector = await site(async (req, res) => {
      const { resourceSpans } = (await json(req)) as Export;
      expect(req.url).toBe("/v1/traces");
      for (const { resource, scopeSpans } of resourceSpans) {
        resources += JSON.stringify(resource);
        exported.push(...scopeSpans.flatMap(({ spans }) => spans));
      }
      res.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    const headers: Record<string, unknown>[] = [];
    const hook = await site((req, res) => {
      headers.push(req.headers);
      req.resume().on("end", () => res.end());
    });
    provideSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
    const tracing = await startTraces("web");
    const { repo } = await pushed(hook.url);
    await deliverAll();
    const forged = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await fetch(`${world.origin}/api/models/${repo.fullName}`, { headers: { traceparent: forged } });
    await tracing.stop();

    const { traceparent } = await db().event.findFirstOrThrow({ where: { repoId: repo.id, scope: "repo.content" } });
    const [, traceId, pushId] = (traceparent ?? "").split("-");
    const ofPush = exported.filter((span) => span.traceId === traceId);
    const parents = (name: string) => ofPush.filter((span) => span.name === name).map(({ parentSpanId }) => parentSpanId);
    expect(ofPush.find(({ name }) => name === "receive push")?.spanId).toBe(pushId);
    expect(parents("fan out")).toEqual([pushId]);
    expect(parents("deliver")).toEqual([pushId]);
    const deliver = ofPush.find(({ name }) => name === "deliver");
    const phases = ofPush.filter(({ parentSpanId }) => parentSpanId === deliver?.spanId).map(({ name }) => name);
    for (const name of phases) expect(["dns", "connect", "first byte", "body"]).toContain(name);
    expect(deliver?.attributes).toContainEqual({ key: "keyhook.attempt.outcome", value: { stringValue: "delivered" } });
    expect(deliver?.status.code ?? 0).toBe(0);
    expect(resources).toContain("keyhook-web");
    expect(exported.some(({ name }) => name === "GET api")).toBe(true);
    expect(JSON.stringify(exported)).not.toContain("a".repeat(32));
    expect(headers).toHaveLength(1);
    expect(headers[0]).not.toHaveProperty("traceparent");
  });

  test("delay nothing when no collector accepts them", async () => {
    const { port } = await site((_req, res) => void res.destroy());
    provideSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    const tracing = await startTraces("web");
    const hook = await site((req, res) => void req.resume().on("end", () => res.end()));
    const { repo } = await pushed(hook.url);
    await deliverAll();
    expect(await db().delivery.count({ where: { repoId: repo.id, state: "delivered" } })).toBe(1);
    await Promise.race([tracing.stop(), new Promise((resolve) => setTimeout(resolve, 200))]);
    provideSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    const { repo: other } = await pushed(hook.url);
    const events = await db().event.findMany({ where: { repoId: other.id } });
    expect(events.map(({ traceparent }) => traceparent)).toEqual(events.map(() => null));
  });
});
