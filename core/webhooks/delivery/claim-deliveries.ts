import { randomUUID } from "node:crypto";
import { Prisma } from "../../generated/prisma/client.ts";
import { type AttemptKind, type DisabledReason, lanes } from "../vocabulary.ts";
import { mayReceive } from "../watchers.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import { deliveryPool } from "./delivery-pool.ts";

/** A killed worker's rows become free after this time (S122: at most 30 seconds). */
export const LEASE_SECONDS = 20;

/** A target that is not listed gets the default allowance. */
export type Room = {
  total: number;
  /** The part that is reserved for retries, so that they never starve (S128). */
  again: number;
  webhooks: { id: string; free: number }[];
  perWebhook: number;
  /** An owner gets at most as many slots as stay free for all others. */
  owners: { id: string; held: number }[];
  hosts: { host: string; rating: HostRating; free: number }[];
  perHost: number;
  ratings: Record<HostRating, number>;
};

/** `good`: the last attempt was answered quickly. `bad`: slowly, or not at all. */
export type HostRating = "good" | "unknown" | "bad";

export type BacklogPosition = { host: string; webhookId: string };
export const startOfBacklog: BacklogPosition = { host: "", webhookId: "" };

type ClaimedDeliveries = {
  rows: ClaimedDelivery[];
  movedToBacklog: number;
  leftBehind: number;
  nextDueMs: number | undefined;
};

const BACKLOG_STEPS = 100;
/** Sorts after every webhook ID, because IDs are hexadecimal. */
const LAST_ID = "g";

/** Rows without room go to the backlog, so that ten thousand rows of a dead host cost healthy hosts nothing (S128). */
export async function claimDeliveries(room: Room): Promise<ClaimedDeliveries> {
  const summary = Prisma.sql`SELECT json_build_array((SELECT count(*) FROM aside),
    (SELECT count(*) FROM candidates) - (SELECT count(*) FROM chosen),
    (SELECT extract(epoch FROM min(next.due_at) - now()) * 1000 FROM unnest(${[lanes.waitedFor, lanes.first, lanes.again]}::int[]) AS each(lane)
      CROSS JOIN LATERAL (SELECT q.due_at FROM delivery_queue q WHERE q.lane = each.lane AND q.due_at > now() AND q.due_at < 'infinity'
        ORDER BY q.due_at LIMIT 1) next))`;
  const rows = await claim<Row>("delivery-claim", (claimId) => claimOf(claimId, fromLanes(room), room, summary));
  const [movedToBacklog, unclaimed, nextDueMs] = (rows[0]?.summary as [number, number, number | null] | undefined) ?? [
    0,
    0,
    null,
  ];
  return {
    rows: rows.flatMap(toDelivery),
    movedToBacklog,
    leftBehind: unclaimed - movedToBacklog,
    nextDueMs: nextDueMs ?? undefined,
  };
}

/** @returns where to continue, or the start if the whole backlog was read */
export async function claimBacklog(
  room: Room,
  from: BacklogPosition,
): Promise<{ rows: ClaimedDelivery[]; next: BacklogPosition; isEmpty: boolean }> {
  const summary = Prisma.sql`SELECT json_build_array(host, webhook_id, n) FROM steps ORDER BY n DESC LIMIT 1`;
  const rows = await claim<Row & { summary: [string, string, number] | null }>("delivery-claim-backlog", (claimId) =>
    claimOf(claimId, fromBacklog(room, from), room, summary),
  );
  const last = rows[0]?.summary;
  const next = last && last[2] >= BACKLOG_STEPS ? { host: last[0], webhookId: last[1] } : startOfBacklog;
  return { rows: rows.flatMap(toDelivery), next, isEmpty: !last && from === startOfBacklog };
}

/** Claims whose result never arrived, because the connection was lost. Nobody works on them. */
const unanswered = new Set<string>();

async function claim<Found extends Row>(name: string, query: (claimId: string) => Prisma.Sql): Promise<Found[]> {
  const lost = [...unanswered];
  if (lost.length > 0) {
    await deliveryPool().query("update delivery_queue set claim_id = null, claimed_until = null where claim_id = any ($1)", [
      lost,
    ]);
    for (const each of lost) unanswered.delete(each);
  }
  const claimId = randomUUID();
  try {
    return (await deliveryPool().query<Found>(prepared(name, query(claimId)))).rows;
  } catch (error) {
    unanswered.add(claimId);
    throw error;
  }
}

export async function renewDeliveries(ids: string[], claimIds: string[]): Promise<void> {
  await deliveryPool().query(
    `update delivery_queue set claimed_until = now() + make_interval(secs => $3) where id = any ($1) and claim_id = any ($2)`,
    [ids, claimIds, LEASE_SECONDS],
  );
}

const isUnclaimed = Prisma.sql`(q.claimed_until IS NULL OR q.claimed_until <= now())`;

const fromLanes = ({ total }: Room) => Prisma.sql`
  candidates AS MATERIALIZED (
    SELECT due.* FROM unnest(ARRAY[${lanes.waitedFor}::int, ${lanes.first}::int, ${lanes.again}::int]) AS each_lane(lane)
    CROSS JOIN LATERAL (
      SELECT q.id, q.webhook_id, q.owner_id, q.host, q.lane, q.due_at FROM delivery_queue q
      WHERE q.lane = each_lane.lane AND q.due_at <= now() AND ${isUnclaimed}
      ORDER BY q.due_at LIMIT ${total}::int FOR UPDATE SKIP LOCKED) due
  )`;

/** Locking a candidate is a write, so only each webhook's share of the host's room is locked. */
const fromBacklog = (room: Room, from: BacklogPosition) => Prisma.sql`
  steps AS (
    (SELECT q.host, q.webhook_id, 1 AS n FROM delivery_queue q
     WHERE q.lane = 3 AND (q.host, q.webhook_id) > (${from.host}::text, ${from.webhookId}::text)
     ORDER BY q.host, q.webhook_id LIMIT 1)
    UNION ALL
    SELECT further.host, further.webhook_id, s.n + 1 FROM steps s CROSS JOIN LATERAL (
      SELECT q.host, q.webhook_id FROM delivery_queue q
      WHERE q.lane = 3
        AND (q.host, q.webhook_id) > (s.host, CASE WHEN s.host = ANY (${fullHosts(room)}::text[]) THEN ${LAST_ID} ELSE s.webhook_id END)
      ORDER BY q.host, q.webhook_id LIMIT 1) further
    WHERE s.n < ${BACKLOG_STEPS}::int
  ),
  shares AS (
    SELECT s.host, s.webhook_id, least(${room.perWebhook}::int,
        1 + coalesce(h.free, ${room.perHost}::int) / count(*) OVER (PARTITION BY s.host)) AS share
    FROM steps s
    LEFT JOIN unnest(${room.hosts.map(({ host }) => host)}::text[], ${room.hosts.map(({ free }) => free)}::int[]) AS h(host, free)
      ON h.host = s.host
    WHERE s.host <> ALL (${fullHosts(room)}::text[])
  ),
  candidates AS MATERIALIZED (
    SELECT due.* FROM shares s CROSS JOIN LATERAL (
      SELECT q.id, q.webhook_id, q.owner_id, q.host, q.lane, q.due_at FROM delivery_queue q
      WHERE q.lane = 3 AND q.host = s.host AND q.webhook_id = s.webhook_id AND q.due_at <= now() AND ${isUnclaimed}
      ORDER BY q.due_at LIMIT s.share FOR UPDATE SKIP LOCKED) due
  )`;

const fullHosts = ({ hosts, ratings }: Room): string[] =>
  hosts.filter(({ free, rating }) => free <= 0 || ratings[rating] <= 0).map(({ host }) => host);

function claimOf(claimId: string, candidates: Prisma.Sql, room: Room, summary: Prisma.Sql): Prisma.Sql {
  const { webhooks, owners, hosts, ratings } = room;
  const freeFor = Prisma.sql`CASE o.rating WHEN 'good' THEN ${ratings.good}::int WHEN 'bad' THEN ${ratings.bad}::int
    ELSE ${ratings.unknown}::int END`;
  return Prisma.sql`
    WITH RECURSIVE ${candidates},
    of_webhooks AS (
      SELECT c.*, row_number() OVER (PARTITION BY c.webhook_id ORDER BY c.lane, c.due_at)
          <= coalesce(w.free, ${room.perWebhook}::int) AS has_webhook_room,
        coalesce(h.held, 0) + row_number() OVER (PARTITION BY c.owner_id, c.host ORDER BY c.lane, c.due_at) AS turn
      FROM candidates c
      LEFT JOIN unnest(${owners.map(({ id }) => id)}::text[], ${owners.map(({ held }) => held)}::int[]) AS h(id, held)
        ON h.id = c.owner_id
      LEFT JOIN unnest(${webhooks.map(({ id }) => id)}::text[], ${webhooks.map(({ free }) => free)}::int[]) AS w(id, free)
        ON w.id = c.webhook_id
    ),
    of_hosts AS (
      SELECT o.*, coalesce(h.rating, 'unknown') AS rating, o.has_webhook_room
          AND row_number() OVER (PARTITION BY o.host, o.has_webhook_room ORDER BY o.lane, o.turn, o.due_at)
            <= coalesce(h.free, ${room.perHost}::int) AS has_host_room
      FROM of_webhooks o
      LEFT JOIN unnest(${hosts.map(({ host }) => host)}::text[], ${hosts.map(({ free }) => free)}::int[],
          ${hosts.map(({ rating }) => rating)}::text[]) AS h(host, free, rating)
        ON h.host = o.host
    ),
    of_owners AS (
      SELECT o.*, o.has_host_room
          AND row_number() OVER (PARTITION BY o.owner_id, o.rating, o.has_host_room ORDER BY o.lane, o.due_at)
            <= ceil((${freeFor} - coalesce(h.held, 0)) / 2.0) AS has_owner_room
      FROM of_hosts o
      LEFT JOIN unnest(${owners.map(({ id }) => id)}::text[], ${owners.map(({ held }) => held)}::int[]) AS h(id, held)
        ON h.id = o.owner_id
    ),
    of_ratings AS (
      SELECT o.*, o.has_owner_room
          AND row_number() OVER (PARTITION BY o.rating, o.has_owner_room ORDER BY o.lane, o.due_at) <= ${freeFor} AS has_room,
        row_number() OVER (PARTITION BY o.lane, o.has_owner_room ORDER BY o.due_at) AS in_lane,
        count(*) OVER (PARTITION BY o.lane) AS lane_rows
      FROM of_owners o
    ),
    chosen AS (
      SELECT id FROM of_ratings WHERE has_room
      ORDER BY CASE WHEN lane >= ${lanes.again}::int AND in_lane <= ${room.again}::int THEN -1 ELSE lane END, in_lane
      LIMIT ${room.total}::int
    ),
    aside AS (
      UPDATE delivery_queue q SET lane = ${lanes.backlog}::int FROM of_ratings o
      WHERE q.id = o.id AND NOT o.has_room AND o.lane < ${lanes.backlog}::int AND o.lane_rows >= ${room.total}::int
      RETURNING q.id
    ),
    claimed AS (
      UPDATE delivery_queue q
      SET claim_id = ${claimId}, claimed_until = now() + make_interval(secs => ${LEASE_SECONDS}), attempts = q.attempts + 1
      FROM chosen WHERE q.id = chosen.id
      RETURNING q.id, q.claim_id, q.webhook_id, q.owner_id, q.event_id, q.kind, q.lane, q.host, q.tries, q.replay_id
    )
    SELECT t.summary, c.*, w.id AS found_webhook_id, w.url, w.secret,
      CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS previous_secret,
      w.disabled_at IS NOT NULL AS is_disabled, w.disabled_reason, w.failing_since, e.payload::text AS payload, e.is_test, e.traceparent,
      ${mayReceive()} AS may_read
    FROM (SELECT (${summary}) AS summary) t
    LEFT JOIN claimed c ON TRUE
    LEFT JOIN webhook w ON w.id = c.webhook_id
    LEFT JOIN event e ON e.id = c.event_id
    LEFT JOIN repo r ON r.id = e.repo_id`;
}

const prepared = (name: string, { text, values }: Prisma.Sql) => ({ name, text, values: values as unknown[] });

type Row = {
  // biome-ignore lint/suspicious/noExplicitAny: each statement returns other rows, and its caller names their type.
  summary: any;
  id: string | null;
  claim_id: string;
  webhook_id: string;
  owner_id: string;
  event_id: string;
  kind: AttemptKind;
  lane: number;
  host: string;
  tries: number;
  replay_id: string | null;
  found_webhook_id: string | null;
  url: string | null;
  secret: Buffer | null;
  previous_secret: Buffer | null;
  is_disabled: boolean;
  disabled_reason: DisabledReason | null;
  failing_since: Date | null;
  payload: string | null;
  traceparent: string | null;
  is_test: boolean;
  may_read: boolean | null;
};

function toDelivery(row: Row): ClaimedDelivery[] {
  if (row.id === null) return [];
  const { id, kind, lane, host, tries } = row;
  return [
    {
      id,
      claimId: row.claim_id,
      webhookId: row.webhook_id,
      ownerId: row.owner_id,
      kind,
      lane,
      host,
      tries,
      replayId: row.replay_id,
      webhook: row.found_webhook_id === null ? null : webhookOf(row),
      event:
        row.payload === null
          ? null
          : { id: row.event_id, payload: row.payload, isTest: row.is_test, traceparent: row.traceparent },
      mayRead: row.may_read === true,
      lease: null,
    },
  ];
}

const webhookOf = (row: Row) => ({
  url: row.url,
  secret: row.secret,
  previousSecret: row.previous_secret,
  isDisabled: row.is_disabled,
  disabledReason: row.disabled_reason,
  failingSince: row.failing_since,
});
