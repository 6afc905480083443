import { databaseCodes } from "../../database-errors.ts";
import { LATENCY_BUCKETS } from "../latency-buckets.ts";
import { lanes } from "../vocabulary.ts";
import { LEASE_SECONDS } from "./claim-deliveries.ts";
import type { Done, EventLease } from "./delivery.ts";
import { deliveryPool } from "./delivery-pool.ts";
import { recordedValues } from "./recorded-values.ts";

/** If another worker has a claim or a lease now, that worker will record the result. */
export async function recordDeliveries(all: readonly Done[], ended: readonly EventLease[] = []): Promise<void> {
  if (all.length + ended.length === 0) return;
  try {
    await recordClaimed(all, ended, async (text, values) =>
      deliveryPool().query({ name: text === RECORD_QUEUED ? "record-queued" : "record-leased", text, values }),
    );
    return;
  } catch (error) {
    if (!isClaimLost(error)) throw error;
  }
  const { rows } = await deliveryPool().query<{ id: string }>(OURS, [
    all.map(({ delivery }) => delivery.id),
    all.map(({ delivery }) => delivery.lease?.claimId ?? delivery.claimId),
    all.map(({ delivery }) => delivery.lease?.id ?? null),
    ended.map(({ id }) => id),
    ended.map(({ claimId }) => claimId),
  ]);
  const kept = new Set(rows.map(({ id }) => id));
  const [ours, oursEnded] = [all.filter(({ delivery }) => kept.has(delivery.id)), ended.filter(({ id }) => kept.has(id))];
  // Each retry must have fewer results than the one before, or the statement is wrong.
  if (ours.length + oursEnded.length === all.length + ended.length)
    throw new Error("deliveries that this worker has claimed cannot be recorded");
  await recordDeliveries(ours, oursEnded);
}

const OURS = `with g as (select * from unnest($1::text[], $2::text[], $3::text[]) as g(id, claim_id, event_id))
  select q.id from g join delivery_queue q on q.id = g.id and q.claim_id = g.claim_id where g.event_id is null
  union all select g.id from g join event e on e.id = g.event_id and e.claim_id = g.claim_id
    where not exists (select from delivery d where d.id = g.id)
  union all select e.id from unnest($4::text[], $5::text[]) as l(id, claim_id) join event e on e.id = l.id and e.claim_id = l.claim_id`;

/**
 * One statement records either all results or none (S122). Conditions on the IDs exclude plans that read a whole table.
 * @throws an error that `isClaimLost` recognizes, if a claim was lost
 */
export async function recordClaimed(
  all: readonly Done[],
  ended: readonly EventLease[],
  query: (text: string, values: unknown[]) => Promise<unknown>,
): Promise<void> {
  const isOfQueue = all.some(({ delivery }) => delivery.lease === null);
  const values = recordedValues(all, ended);
  await (isOfQueue ? query(RECORD_QUEUED, values) : query(RECORD_LEASED, values.slice(0, -1)));
}

/** `claim_lost()` raises this code if the statement finds fewer claims than it was given. */
const CLAIM_LOST = "KH001";

export const isClaimLost = (error: unknown): boolean => databaseCodes(error).includes(CLAIM_LOST);

export const isTemporary = (error: unknown): boolean =>
  databaseCodes(error).some((code) => typeof code === "string" && /^(40...|53...|55P03|57014|P2024|P2028|P2034)$/.test(code));

/** The buckets are added one by one, because unnesting the arrays would take most of the statement's time. */
const ADDED = `array[${Array.from({ length: LATENCY_BUCKETS }, (_, at) => `coalesce(h.latencies[${at + 1}], 0) + excluded.latencies[${at + 1}]`)}]`;

/** Only rows of the queue need this part, for which Postgres would open every partition. */
const OF_QUEUE = `over as (
  delete from delivery_queue q using given g
  where q.id = any ($10::text[]) and q.id = g.id and q.claim_id = g.claim_id and g.event_id is null and g.is_over
  returning q.id
), again as (
  update delivery_queue q
  set due_at = case when g.seconds is null then 'infinity' else now() + make_interval(secs => g.seconds) end,
    tries = g.tries, host = g.host, claim_id = null, claimed_until = null,
    kind = case when g.is_tried then 'retry' else q.kind end,
    lane = case when (g.is_tried and g.seconds is distinct from 0) or q.lane = ${lanes.backlog} then ${lanes.again} else q.lane end
  from given g
  where q.id = any ($10::text[]) and q.id = g.id and q.claim_id = g.claim_id and g.event_id is null and not g.is_over
  returning q.id, nullif(q.due_at, 'infinity') as due_at
), mine as materialized (
  select id, null::timestamptz as due_at from over union all select id, due_at from again
), updated as (
  update delivery d
  set state = g.state, attempts = d.attempts + 1, last_outcome = g.outcome, last_status = g.status, last_duration_ms = g.total_ms,
    finished_at = case when g.is_over then now() end
  from given g join mine on mine.id = g.id
  where d.id = any ($10::text[]) and d.id = g.id and g.is_attempt
  returning d.id, d.attempts, mine.due_at
), unsendable as (
  update delivery d set state = 'failed', finished_at = now()
  from given g join mine on mine.id = g.id
  where d.id = any ($10::text[]) and d.id = g.id and g.is_over and not g.is_attempt and d.state = 'waiting'
), `;

const recordQuery = (isOfQueue: boolean) => `
with given as materialized (
  select * from json_to_recordset($1::json) as g(
    id text, claim_id text, event_id text, repo_name text, is_sending boolean, is_attempt boolean, is_over boolean, seconds float8, tries int, is_tried boolean, state text,
    webhook_id text, owner_id text, host text, attempt_id text, kind text, started_at timestamptz, outcome text, reason text, url text,
    signature text, status int, headers json, body text, is_cut boolean, is_reused boolean, dns_ms int, connect_ms int, tls_ms int,
    first_byte_ms int, total_ms int, job_run_id text)
), ${isOfQueue ? OF_QUEUE : ""}made as (
  insert into delivery (id, webhook_id, owner_id, event_id, kind, scope, action, repo_id, repo_type, repo_name, state, attempts,
    last_outcome, last_status, last_duration_ms, finished_at)
  select g.id, g.webhook_id, g.owner_id, e.id, 'event', e.scope, e.action, e.repo_id, e.repo_type, g.repo_name, g.state,
    case when g.is_attempt then 1 else 0 end, g.outcome, g.status, g.total_ms, case when g.is_over then now() end
  from given g join event e on e.id = any ($8::text[]) and e.id = g.event_id and e.claim_id = g.claim_id
  on conflict (id) do nothing
  returning id, attempts
), queued as (
  insert into delivery_queue (id, webhook_id, owner_id, event_id, host, kind, lane, tries, due_at, claim_id, claimed_until)
  select g.id, g.webhook_id, g.owner_id, g.event_id, g.host, case when g.is_tried then 'retry' else 'first' end,
    case when g.is_tried and g.seconds is distinct from 0 then ${lanes.again} else ${lanes.first} end, g.tries,
    case when g.seconds is null then 'infinity' else now() + make_interval(secs => g.seconds) end,
    case when g.is_sending then g.claim_id end, case when g.is_sending then now() + interval '${LEASE_SECONDS} seconds' end
  from given g join made on made.id = g.id where not g.is_over
  returning id, nullif(due_at, 'infinity') as due_at
), ended as (
  update event e set fan_out_cursor = case when l.error is null then l.cursor else e.fan_out_cursor end, fan_out_error = l.error, fanned_out_at = case when l.cursor is null then now() end,
    claim_id = null, claimed_until = null
  from json_to_recordset($7::json) as l(id text, claim_id text, cursor text, error text)
  where e.id = any ($8::text[]) and e.id = l.id and e.claim_id = l.claim_id
  returning e.id
), kept as (
  insert into attempt (id, delivery_id, webhook_id, owner_id, number, kind, started_at, outcome, reason, url, signature, status,
    response_headers, response_body, is_body_cut, is_reused, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_due_at, job_run_id)
  select g.attempt_id, g.id, g.webhook_id, g.owner_id, known.attempts, g.kind, g.started_at, g.outcome, g.reason, g.url, g.signature,
    g.status, g.headers, decode(g.body, 'base64'), coalesce(g.is_cut, false), coalesce(g.is_reused, false), g.dns_ms, g.connect_ms, g.tls_ms,
    g.first_byte_ms, g.total_ms, known.due_at, g.job_run_id
  from given g join (
    ${isOfQueue ? "select id, attempts, due_at from updated union all" : ""} select m.id, m.attempts, q.due_at from made m left join queued q on q.id = m.id
  ) known on known.id = g.id
  where g.is_attempt
), stored as (
  insert into storage_use as s (owner_id, kind, part, bytes)
  select c.owner_id, 'attempts', c.day, c.bytes from json_to_recordset($6::json) as c(owner_id text, day text, bytes bigint)
  on conflict (owner_id, kind, part) do update set bytes = s.bytes + excluded.bytes
), hours as (
  insert into webhook_hour as h (webhook_id, hour, delivered, failed, latencies, triggered, by_outsiders, rate_limited)
  select c.webhook_id, coalesce(c.hour, date_trunc('hour', now(), 'UTC')), sum(c.delivered), sum(c.failed), max(c.latencies),
    -sum(c.rate_limited), -sum(c.by_outsiders), sum(c.rate_limited)
  from json_to_recordset($2::json) as c(webhook_id text, hour timestamptz, delivered int, failed int, latencies int[],
    rate_limited int, by_outsiders int)
  group by 1, 2 order by 1, 2
  on conflict (webhook_id, hour) do update set delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed,
    triggered = h.triggered + excluded.triggered, by_outsiders = h.by_outsiders + excluded.by_outsiders,
    rate_limited = h.rate_limited + excluded.rate_limited,
    latencies = case when excluded.latencies is null then h.latencies else ${ADDED} end
), health as (
  update webhook w set failing_since = case when c.fails then now() end
  from json_to_recordset($3::json) as c(id text, fails boolean)
  where w.id = any ($9::text[]) and w.id = c.id and c.fails = (w.failing_since is null)
), replays as (
  update webhook_replay p set delivered = p.delivered + c.delivered, failed = p.failed + c.failed
  from json_to_recordset($4::json) as c(id text, delivered int, failed int)
  where p.id = c.id
)
select case when ${isOfQueue ? "(select count(*) from mine) +" : ""} (select count(*) from made) + (select count(*) from ended) = $5 then 0 else claim_lost() end`;

const [RECORD_QUEUED, RECORD_LEASED] = [recordQuery(true), recordQuery(false)];
