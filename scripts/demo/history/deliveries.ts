import { db } from "#core/db.ts";
import { newOrderedId } from "#core/ids.ts";
import { retryDelay } from "#core/webhooks/delivery/decide.ts";
import { deliveryBody } from "#core/webhooks/delivery/delivery.ts";
import { deliveryHeaders } from "#core/webhooks/delivery/delivery-headers.ts";
import { LATENCY_BUCKETS, latencyBucket } from "#core/webhooks/latency-buckets.ts";
import type { EventRow } from "./seed-history.ts";
import type { Rows } from "./write-history.ts";

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

type SampleWebhook = Awaited<ReturnType<typeof findWebhooks>>[number];
const findWebhooks = (ownerIds: string[]) =>
  db().webhook.findMany({ where: { ownerId: { in: ownerIds } }, include: { watched: true } });

/** `from` and `to` are in hours before now. */
const outages = [
  { from: 17.16 * 24, to: 17 * 24, status: 503, reason: null, body: "upstream connect error\n" },
  { from: 9.26 * 24, to: 9.1 * 24, status: null, reason: "the connection was refused", body: null },
] as const;
/** One of this many events triggers a bug of the receiver, which no retry fixes. */
const BUG_EVERY = 110;

export async function deliveryRows(
  events: readonly EventRow[],
  { ownerIds, now }: { ownerIds: string[]; now: number },
): Promise<Rows> {
  const deliveries: object[] = [];
  const attempts: object[] = [];
  const hours = new Map<string, Hour>();
  for (const webhook of await findWebhooks(ownerIds)) {
    const watched = new Set(webhook.watched.map(({ watchedId }) => watchedId));
    const heard = events.filter(({ owner_id, repo_id }) => watched.has(owner_id) || watched.has(repo_id));
    for (const [nth, event] of heard.entries()) {
      const tried = triesOf(event.created_at.getTime(), { now, nth });
      const id = newOrderedId(event.created_at.getTime());
      const last = tried.at(-1);
      if (!last) continue;
      hourOf(hours, webhook.id, event.created_at.getTime()).triggered++;
      for (const [before, each] of tried.entries()) {
        attempts.push(attemptRow(webhook, event, { ...each, id, number: before + 1 }));
        const hour = hourOf(hours, webhook.id, each.at);
        hour[each.isDelivered ? "delivered" : "failed"]++;
        if (each.status === null) continue;
        const bucket = latencyBucket(each.ms);
        hour.latencies[bucket] = (hour.latencies[bucket] ?? 0) + 1;
      }
      deliveries.push({
        ...{ id, webhook_id: webhook.id, owner_id: webhook.ownerId, event_id: event.id, kind: "event" },
        ...{ scope: event.scope, action: event.action, repo_id: event.repo_id, repo_type: event.repo_type },
        ...{ repo_name: event.repo_name, state: last.isDelivered ? "delivered" : "failed", attempts: tried.length },
        ...{ last_outcome: outcomeOf(last), last_status: last.status, last_duration_ms: last.ms },
        ...{ created_at: event.created_at, finished_at: new Date(last.at + last.ms) },
      });
    }
  }
  return { delivery: deliveries, attempt: attempts, webhook_hour: [...hours.values()] };
}

type Try = { at: number; ms: number; isDelivered: boolean; status: number | null; reason: string | null; body: string | null };

const outcomeOf = ({ isDelivered, status }: Try) => (isDelivered ? "delivered" : status === null ? "unreachable" : "rejected");

function triesOf(createdAt: number, { now, nth }: { now: number; nth: number }): Try[] {
  const isHopeless = nth % BUG_EVERY === BUG_EVERY - 1 && now - createdAt > 3 * DAY_MS;
  const tries: Try[] = [];
  for (let at: number | undefined = createdAt + 300; at !== undefined; ) {
    const ms = 28 + ((nth * 37 + tries.length * 11) % 90) + (nth % 23 === 0 ? 640 : 0);
    const hoursAgo = (now - at) / HOUR_MS;
    const outage = outages.find(({ from, to }) => hoursAgo <= from && hoursAgo > to);
    const bug = { status: 500, reason: null, body: "TypeError: cannot read the header of readings.csv\n" };
    const failure = outage ?? (isHopeless ? bug : undefined);
    if (!failure) return [...tries, { at, ms, isDelivered: true, status: 200, reason: null, body: "ok\n" }];
    const { status, reason, body } = failure;
    tries.push({ at, ms, isDelivered: false, status, reason, body });
    const seconds = retryDelay(tries.length, 0, () => 0);
    at = seconds === undefined ? undefined : at + ms + seconds * 1_000;
  }
  return tries;
}

type Hour = { webhook_id: string; hour: Date; triggered: number; delivered: number; failed: number; latencies: number[] };

function hourOf(hours: Map<string, Hour>, webhook_id: string, at: number): Hour {
  const hour = new Date(Math.floor(at / HOUR_MS) * HOUR_MS);
  const key = `${webhook_id} ${hour.getTime()}`;
  const latencies = new Array<number>(LATENCY_BUCKETS).fill(0);
  const found = hours.get(key) ?? { webhook_id, hour, triggered: 0, delivered: 0, failed: 0, latencies };
  hours.set(key, found);
  return found;
}

function attemptRow(
  webhook: SampleWebhook,
  { payload }: EventRow,
  { id, number, ...tried }: Try & { id: string; number: number },
) {
  const startedAt = new Date(tried.at);
  const body = deliveryBody(JSON.stringify(payload), webhook.id);
  const secret = webhook.secret && Buffer.from(webhook.secret);
  const { signature } = deliveryHeaders({ id, webhook: { secret, previousSecret: null }, event: null }, body, startedAt);
  const firstByteMs = tried.status === null ? null : tried.ms - 4;
  return {
    ...{ id: newOrderedId(tried.at), delivery_id: id, webhook_id: webhook.id, owner_id: webhook.ownerId, number },
    ...{ kind: number === 1 ? "first" : "retry", started_at: startedAt, outcome: outcomeOf(tried), reason: tried.reason },
    ...{ url: webhook.url, signature, status: tried.status, total_ms: tried.ms, first_byte_ms: firstByteMs },
    response_headers: tried.status === null ? null : { "content-type": "text/plain; charset=utf-8", connection: "keep-alive" },
    response_body: tried.body === null ? null : `\\x${Buffer.from(tried.body).toString("hex")}`,
  };
}
