import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { organizationOf, signedInPerson, type TestPerson } from "../../accounts/testing/people.ts";
import { seal } from "../../crypto/seal.ts";
import { db, pool } from "../../db.ts";
import { newId, newOrderedId } from "../../ids.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { LATENCY_BUCKETS, latencyBucket } from "../latency-buckets.ts";
import { deliveryConditions } from "./delivery-conditions.ts";
import { listDeliveries, readInOrder, SEARCH_WINDOW } from "./list-deliveries.ts";
import { hasFailedAttempts, readChart } from "./read-chart.ts";
import { deliveryDetailJson, readDelivery } from "./read-delivery.ts";
import { sparklines } from "./sparklines.ts";

const HOUR = 3_600_000;
const SECRET = 'a "secret" with / and ü';

let ada: TestPerson;
let grace: TestPerson;
beforeAll(async () => {
  [ada, grace] = await Promise.all([signedInPerson("ada"), signedInPerson("grace")]);
});

async function webhookOf(owner: { id: string }, more: { ownerKind?: string; isDisabled?: boolean } = {}): Promise<string> {
  const id = newId();
  const { ownerKind = "user", isDisabled = false } = more;
  const disabledAt = isDisabled ? new Date() : null;
  const secret = seal("webhook secret", SECRET);
  await db().webhook.create({
    data: { id, ownerId: owner.id, ownerKind, url: "https://hooks.example/x", domains: ["repo"], secret, disabledAt },
  });
  return id;
}

type Given = Partial<{
  at: number;
  state: string;
  scope: string;
  action: string;
  repoName: string;
  lastStatus: number;
  lastOutcome: string;
  attempts: number;
  event: { ownerId: string; isPrivate: boolean; repoId: string };
}>;

async function delivery(webhookId: string, { at = Date.now(), event, ...given }: Given = {}) {
  const [id, eventId] = [newOrderedId(at), newId()];
  const { ownerId = newId(), isPrivate = false, repoId = newId() } = event ?? {};
  const about = { scope: given.scope ?? "repo", action: given.action ?? "create" };
  const payload = { event: about, repo: { b: 1, a: 'ü "' } };
  const times = { createdAt: new Date(at), fannedOutAt: new Date(at) };
  await db().event.create({ data: { id: eventId, ...about, repoId, repoType: "model", ownerId, isPrivate, payload, ...times } });
  const repo = { repoId, repoType: "model", repoName: given.repoName ?? "ada/tides" };
  const { state = "delivered", attempts = 1, lastStatus = null, lastOutcome = null } = given;
  await db().delivery.create({
    data: {
      ...{ id, webhookId, ownerId: newId(), eventId, kind: "event", ...about, ...repo },
      ...{ state, attempts, lastStatus, lastOutcome, createdAt: new Date(at) },
    },
  });
  return { id, eventId, repoId };
}

const queue = (webhookId: string, id: string, more: object = {}) =>
  db().deliveryQueue.create({
    data: { id, webhookId, ownerId: newId(), eventId: newId(), host: "x:1", kind: "retry", lane: 2, tries: 1, ...more },
  });

async function attempt(webhookId: string, deliveryId: string, more: object = {}): Promise<string> {
  const id = newOrderedId();
  await db().attempt.create({
    data: {
      ...{ id, deliveryId, webhookId, ownerId: newId(), number: 1, kind: "first", startedAt: new Date(1_790_000_000_500) },
      ...{ outcome: "delivered", status: 200, url: "https://hooks.example/x", signature: "v1,abc=", totalMs: 41, ...more },
    },
  });
  return id;
}

describe("the list of deliveries", () => {
  it("is paged by cursor from the newest, and shows when waiting deliveries are tried", async () => {
    const webhookId = await webhookOf(ada);
    const begin = Date.now() - 5_000;
    const made: string[] = [];
    for (let nth = 0; nth < 7; nth++) made.push((await delivery(webhookId, { at: begin + nth })).id);
    await delivery(await webhookOf(ada));
    const waiting = await delivery(webhookId, { state: "waiting", attempts: 2 });
    const dueAt = new Date(Date.now() + HOUR);
    await queue(webhookId, waiting.id, { dueAt });
    const held = await delivery(webhookId, { state: "waiting", at: begin - 120 * HOUR });
    await pool().query(
      "insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, due_at) values ($1, $2, '', '', '', 'first', 1, 'infinity')",
      [held.id, webhookId],
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listDeliveries(ada.actor, webhookId, { limit: 3, ...(cursor && { cursor }) });
      seen.push(...page.deliveries.map(({ id }) => id));
      cursor = page.older ?? undefined;
    } while (cursor);
    expect(seen).toEqual([waiting.id, ...made.toReversed(), held.id]);

    const { deliveries } = await listDeliveries(ada.actor, webhookId, { state: "waiting" });
    expect(deliveries.map(({ id, nextAttemptAt }) => [id, nextAttemptAt])).toEqual([
      [waiting.id, dueAt],
      [held.id, null],
    ]);
    const { statements } = await countStatements(() => listDeliveries(ada.actor, webhookId, { limit: 100 }));
    expect(statements).toBeLessThanOrEqual(8);
  });

  it("is narrowed by each filter and by all filters together (S127)", async () => {
    const webhookId = await webhookOf(ada);
    const now = Date.now();
    const add = (nth: number, given: Given) => delivery(webhookId, { at: now - nth * HOUR, ...given });
    const ok = await add(1, { lastStatus: 200, lastOutcome: "delivered" });
    const dead = await add(2, { state: "failed", lastOutcome: "unreachable", repoName: "Grace/Tid_es%" });
    const gone = await add(3, {
      state: "failed",
      lastStatus: 503,
      lastOutcome: "rejected",
      scope: "repo.content",
      action: "update",
    });
    const over = await add(4, { state: "rate_limited", attempts: 0 });
    const kept = await add(26, { state: "withheld", attempts: 0, lastOutcome: "withheld" });
    const found = async (filter: Parameters<typeof listDeliveries>[2]) =>
      (await listDeliveries(ada.actor, webhookId, filter)).deliveries.map(({ id }) => id);
    const iso = (ago: number) => new Date(now - ago * HOUR).toISOString();

    expect(await found({ state: "failed" })).toEqual([dead.id, gone.id]);
    expect(await found({ state: "rate_limited" })).toEqual([over.id]);
    expect(await found({ state: "withheld" })).toEqual([kept.id]);
    expect(await found({ state: "delivered" })).toEqual([ok.id]);
    expect(await found({ status: "5xx" })).toEqual([gone.id]);
    expect(await found({ status: "200" })).toEqual([ok.id]);
    expect(await found({ outcome: "unreachable" })).toEqual([dead.id]);
    expect(await found({ scope: "repo.content", action: "update" })).toEqual([gone.id]);
    expect(await found({ repo: "grace/tid_ES%" })).toEqual([dead.id]);
    expect(await found({ repo: over.repoId })).toEqual([over.id]);
    expect(await found({ text: "d_es%" })).toEqual([dead.id]);
    expect(await found({ text: "CONTENT.up" })).toEqual([gone.id]);
    for (const id of [gone.id, gone.eventId, gone.repoId])
      expect(await found({ text: ` ${id.toUpperCase()} ` })).toEqual([gone.id]);
    expect(await found({ since: iso(3.5), until: iso(1.5) })).toEqual([dead.id, gone.id]);
    expect(await found({ state: "failed", status: "503", text: "ada", since: iso(5) })).toEqual([gone.id]);
    for (const text of ["\0", "\ud800", "x".repeat(200), "' or 1=1 --"]) expect(await found({ text, repo: text })).toEqual([]);
    await expect(found({ cursor: "x'" })).rejects.toMatchObject({ code: "invalid_request", field: "cursor" });
    await expect(found({ since: "tomorrow" })).rejects.toMatchObject({ code: "invalid_request", field: "since" });
    expect(await found({ since: "+275000-01-01T00:00:00Z" })).toEqual([]);
  });

  it("S136 of another user's webhook gets the same response as one that does not exist", async () => {
    const organization = await organizationOf(ada, [[grace, "write"]]);
    const own = await webhookOf(ada);
    const shared = await webhookOf(organization, { ownerKind: "organization" });
    const { id } = await delivery(own);
    const absent = await listDeliveries(grace.actor, newId()).catch((error: Error) => error.message);
    for (const webhookId of [own, shared, newId(), "", "x'"]) {
      for (const ask of [
        () => listDeliveries(grace.actor, webhookId),
        () => readDelivery(grace.actor, webhookId, id),
        () => readChart(grace.actor, webhookId, "24h"),
      ]) {
        await expect(ask()).rejects.toMatchObject({ code: "not_found", message: absent });
      }
    }
    expect((await listDeliveries(ada.actor, shared)).deliveries).toEqual([]);
    await expect(listDeliveries(ada.actor, own, {}, { ownerId: organization.id })).rejects.toMatchObject({ code: "not_found" });
    await expect(readDelivery(ada.actor, shared, id)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a search among very many", () => {
  it("searches a limited number at a time, and reports where the search stopped", async () => {
    const webhookId = await webhookOf(ada);
    const many = SEARCH_WINDOW + 50;
    await pool().query(
      `insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state, created_at)
       select lpad(to_hex(s), 8, '0') || lpad(to_hex(n), 16, '0'), $1, '', '', 'event', 'repo', 'create', '', 'model',
         case when n = 10 then 'ada/needle' else 'ada/hay' end, 'delivered', to_timestamp(s)
       from generate_series(1, $2::int) as n, lateral (select extract(epoch from now())::bigint - 3600 as s) at`,
      [webhookId, many],
    );
    const first = await listDeliveries(ada.actor, webhookId, { text: "needle" });
    expect(first.deliveries).toEqual([]);
    expect(first.searchedBackTo).toBeInstanceOf(Date);
    const second = await listDeliveries(ada.actor, webhookId, { text: "needle", cursor: first.older ?? "" });
    expect(second.deliveries).toHaveLength(1);
    expect(second).toMatchObject({ older: null, searchedBackTo: null });
    const hay = await listDeliveries(ada.actor, webhookId, { text: "hay", limit: 5 });
    expect(hay.older).toBe(hay.deliveries[4]?.id);
    expect(hay.searchedBackTo).toBeNull();
    const { source, matching, values } = deliveryConditions(webhookId, { text: "nothing" }, { from: null, before: null });
    const [row] = await readInOrder<{ "QUERY PLAN": unknown }>(
      `explain (analyze, format json) select * from (select d.* ${source} limit ${SEARCH_WINDOW}) d where ${matching.join(" and ")} order by d.webhook_id desc, d.id desc limit 26`,
      values,
    );
    const plan = JSON.stringify(row?.["QUERY PLAN"]);
    expect(plan).not.toContain('"Seq Scan"');
    expect(Math.max(...[...plan.matchAll(/"Actual Rows":([\d.]+)/g)].map(([, count]) => Number(count)))).toBeLessThanOrEqual(
      SEARCH_WINDOW,
    );
  });
});

describe("one delivery", () => {
  it("S121 S124 shows the request as it was sent, and the response with credentials masked", async () => {
    const webhookId = await webhookOf(ada);
    const { id, eventId } = await delivery(webhookId, { state: "failed", attempts: 2 });
    const headers = {
      "content-type": "text/plain; charset=utf-8",
      "set-cookie": "session=topsecret; HttpOnly, other=hidden-too",
      authorization: "Bearer topsecret",
      "www-authenticate": 'Basic realm="here"',
      "x-api-key": "topsecret",
      "x-auth-token": "topsecret",
      "x-echo": `you said Bearer topsecret-topsecret and ${SECRET}`,
      "retry-after": "45",
    };
    const responseBody = Buffer.from(`${JSON.stringify({ got: SECRET })} Fuß`, "utf8").subarray(0, -1);
    const timings = { dnsMs: 3, connectMs: 9, tlsMs: 31, firstByteMs: 188, totalMs: 236 };
    const first = await attempt(webhookId, id, {
      ...{
        outcome: "rejected",
        status: 503,
        reason: "it answered 503",
        responseHeaders: headers,
        responseBody,
        isBodyCut: true,
        ...timings,
      },
      nextDueAt: new Date(1_790_000_005_000),
    });
    const bytes = Buffer.from([0x89, 0x50, 0, 0xff]);
    await attempt(webhookId, id, {
      number: 2,
      kind: "retry",
      status: 500,
      responseHeaders: {},
      responseBody: bytes,
      isReused: true,
      firstByteMs: 5,
      totalMs: 6,
    });

    const found = await readDelivery(ada.actor, webhookId, id);
    const text = `{"event":{"scope":"repo","action":"create"},"repo":{"b":1,"a":"ü \\""},"webhook":{"id":"${webhookId}","version":3}}`;
    expect(found.body).toEqual({ text, bytes: Buffer.byteLength(text) });
    expect(found).toMatchObject({ id, event: { id: eventId }, bodyMissing: null, canReplay: true, olderAttempts: null });
    const [retry, tried] = found.attemptLog;
    expect(tried).toMatchObject({
      ...{ id: first, number: 1, kind: "first", outcome: "rejected", status: 503, reason: "it answered 503" },
      timings: { isReused: false, dnsMs: 3, connectMs: 9, tlsMs: 31, firstByteMs: 188, bodyMs: 5, totalMs: 236 },
      nextDueAt: new Date(1_790_000_005_000),
    });
    expect(tried?.request?.headers).toMatchObject({
      ...{
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": "1790000000",
        "webhook-signature": "v1,abc=",
      },
      "x-webhook-secret": "••••••",
    });
    expect(tried?.response?.headers).toEqual({
      ...{ "content-type": "text/plain; charset=utf-8", "retry-after": "45", "www-authenticate": 'Basic realm="here"' },
      ...{ "set-cookie": "••••••", authorization: "••••••", "x-api-key": "••••••", "x-auth-token": "••••••" },
      "x-echo": "you said •••••• and ••••••",
    });
    expect(tried?.response?.body).toEqual({ text: '{"got":"••••••"} Fu', base64: null, bytes: responseBody.length, isCut: true });
    expect(retry?.response?.body).toEqual({ text: null, base64: bytes.toString("base64"), bytes: 4, isCut: false });
    expect(retry?.timings).toMatchObject({ isReused: true, dnsMs: null, bodyMs: 1 });
    expect(JSON.stringify(deliveryDetailJson(found))).not.toMatch(/topsecret|hidden-too|a \\+"secret/);
  });

  it("shows twenty attempts at a time", async () => {
    const webhookId = await webhookOf(ada);
    const { id } = await delivery(webhookId, { attempts: 23 });
    for (let number = 1; number <= 23; number++) await attempt(webhookId, id, { id: newOrderedId(Date.now() + number), number });
    const first = await readDelivery(ada.actor, webhookId, id);
    expect(first.attemptLog.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, at) => 23 - at));
    const rest = await readDelivery(ada.actor, webhookId, id, { attemptsBefore: first.olderAttempts ?? "" });
    expect(rest.attemptLog.map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(rest.olderAttempts).toBeNull();
  });

  it("S129 a payload that was never sent is shown only while the webhook's owner may read the repository", async () => {
    const webhookId = await webhookOf(ada);
    const event = { ownerId: grace.id, isPrivate: true, repoId: newId() };
    const over = await delivery(webhookId, { state: "rate_limited", attempts: 0, event });
    const kept = await delivery(webhookId, { state: "withheld", attempts: 1, event });
    await attempt(webhookId, kept.id, { outcome: "withheld", status: null, url: null, signature: null });
    const sent = await delivery(webhookId, { event });
    await attempt(webhookId, sent.id);
    const own = await delivery(webhookId, { state: "waiting", attempts: 0, event: { ...event, ownerId: ada.id } });
    for (const { id } of [over, kept])
      expect(await readDelivery(ada.actor, webhookId, id)).toMatchObject({ body: null, bodyMissing: "access" });
    for (const { id } of [sent, own]) expect(await readDelivery(ada.actor, webhookId, id)).toMatchObject({ bodyMissing: null });
    const [withheld] = (await readDelivery(ada.actor, webhookId, kept.id)).attemptLog;
    expect(withheld).toMatchObject({ request: null, response: null });
    await db().event.delete({ where: { id: sent.eventId } });
    expect(await readDelivery(ada.actor, webhookId, sent.id)).toMatchObject({ bodyMissing: "expired", canReplay: false });
  });

  it("shows every response of a receiver without failing", async () => {
    const webhookId = await webhookOf(ada, { isDisabled: true });
    const { id } = await delivery(webhookId);
    const body = (type: string, responseBody: Buffer) =>
      attempt(webhookId, id, { responseHeaders: { "content-type": type }, responseBody });
    await body("text/html; charset=iso-8859-1", Buffer.from("Fu\xdf", "latin1"));
    await body('text/html; charset="no-such"', Buffer.from("x"));
    await body("application/octet-stream", randomBytes(65_536));
    await body("text/plain", Buffer.alloc(0));
    const { attemptLog, canReplay } = await readDelivery(ada.actor, webhookId, id);
    expect(attemptLog.map(({ response }) => response?.body.text ?? response?.body.base64?.length)).toEqual([
      "",
      87_384,
      4,
      "Fuß",
    ]);
    expect(canReplay).toBe(false);
  });
});

describe("the chart", () => {
  it("sums up hours in bars, with percentiles, waiting retries and triggers", async () => {
    const webhookId = await webhookOf(ada);
    const now = Math.floor(Date.now() / HOUR) * HOUR;
    const latencies = (ms: number, count: number) => {
      const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
      counts[latencyBucket(ms)] = count;
      return counts;
    };
    const hours = [
      { hour: new Date(now), triggered: 5, delivered: 90, failed: 10, rateLimited: 0, latencies: latencies(40, 98) },
      { hour: new Date(now - 3 * HOUR), triggered: 7, delivered: 0, failed: 0, rateLimited: 4 },
      {
        hour: new Date(now - 30 * HOUR),
        triggered: 100,
        delivered: 100,
        failed: 0,
        rateLimited: 0,
        latencies: latencies(2_000, 2),
      },
    ];
    expect(await hasFailedAttempts(webhookId)).toBe(false);
    await db().webhookHour.createMany({ data: hours.map((hour) => ({ webhookId, ...hour })) });
    expect(await hasFailedAttempts(webhookId)).toBe(true);
    for (const tries of [0, 1, 2]) await queue(webhookId, newOrderedId(), { tries });
    const day = await readChart(ada.actor, webhookId, "24h");
    expect(day.bars).toHaveLength(24);
    expect(day.bars.at(-1)).toMatchObject({ from: new Date(now), delivered: 90, failed: 10 });
    expect(day.bars.at(-4)).toMatchObject({ rateLimited: 4, triggered: 7 });
    expect(day).toMatchObject({ delivered: 90, failed: 10, rateLimited: 4, deliveredShare: 0.9, waitingToRetry: 2 });
    expect(day.triggers).toEqual({ count: 12, limit: 1_000 });
    expect(day.medianMs).toBeGreaterThan(34);
    expect(day.medianMs).toBeLessThan(46);
    const week = await readChart(ada.actor, webhookId, "7d");
    expect([week.bars.length, week.delivered, week.p99Ms && week.p99Ms > 1_700]).toEqual([28, 190, true]);
    const month = await readChart(ada.actor, webhookId, "30d");
    expect([month.bars.length, month.bars.at(-1)?.delivered, month.bars.at(-2)?.delivered]).toEqual([30, 90, 100]);

    const latest = await delivery(webhookId, { state: "failed", lastStatus: 500, lastOutcome: "rejected" });
    const idle = await webhookOf(ada);
    const { result, statements } = await countStatements(() => sparklines([webhookId, idle]));
    expect(statements).toBe(1);
    expect(result.get(webhookId)).toMatchObject({
      deliveredShare: 0.9,
      last: { id: latest.id, status: 500, outcome: "rejected" },
    });
    expect(result.get(webhookId)?.bars.at(-1)).toEqual({ delivered: 90, failed: 10 });
    expect(result.get(idle)).toMatchObject({ deliveredShare: null, last: null });
  });
});
