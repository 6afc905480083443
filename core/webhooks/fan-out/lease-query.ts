import { eventScopes } from "@keyhook/sdk";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { LEASE_SECONDS } from "../delivery/claim-deliveries.ts";
import { mayReceive, mayReceiveIfPlain, subscribesTo } from "../watchers.ts";
import { outsidersPart } from "./over-limit.ts";

type Part = "fresh" | "begun";

type Lease = {
  claimId: string;
  part: Part;
  limit: number;
  after: string;
  page: number;
  triggersPerDay: number;
  /** Leases these events, by `mayReceive`. With null, leases the oldest events that `mayReceiveIfPlain` can decide. */
  ids: readonly string[] | null;
};

/**
 * Owners take turns (S128). Counting locks the hours' rows in one order, so the limit of triggers is exact for concurrent leases
 * (S127). Rows are sorted by event, then by watcher.
 */
export function leaseQuery({ part, ...given }: Lease): { name: string; text: string; values: unknown[] } {
  const isPlain = given.ids === null;
  const name = `lease-events-${part}-${isPlain ? "plain" : "all"}`;
  // Composing the text takes as long as running the statement.
  const { text, values } = queries.get(name) ?? textOf(part, isPlain);
  queries.set(name, { text, values });
  return { name, text, values: values.map((value) => (typeof value === "function" ? value(given) : value)) };
}

type Given = Omit<Lease, "part">;
const queries = new Map<string, Pick<Prisma.Sql, "text" | "values">>();

function textOf(part: Part, isPlain: boolean): Pick<Prisma.Sql, "text" | "values"> {
  const [claimId, limit, page] = [(given: Given) => given.claimId, (given: Given) => given.limit, (given: Given) => given.page];
  const [after, ids] = [(given: Given) => given.after, (given: Given) => given.ids];
  const triggersPerDay = (given: Given) => given.triggersPerDay;
  const outsiders = (given: Given) => outsidersPart(given.triggersPerDay);
  const watchersOf = (target: Prisma.Sql) => Prisma.sql`(SELECT i.webhook_id FROM webhook_watch i
    WHERE i.target_id = ${target} AND i.webhook_id > coalesce(e.fan_out_cursor, '') ORDER BY i.webhook_id LIMIT ${page}::int)`;
  const mayReceiveEvent = isPlain ? mayReceiveIfPlain : mayReceive(Prisma.sql`e.moved_to`);
  const isDecided = isPlain
    ? Prisma.sql`due.id NOT IN (SELECT w.event_id FROM watcher w WHERE w.may_receive IS NULL)`
    : Prisma.sql`TRUE`;
  const isDue = Prisma.sql`e.fanned_out_at IS NULL AND e.fan_out_cursor IS ${Prisma.raw(part === "begun" ? "NOT NULL" : "NULL")}
    AND (e.claimed_until IS NULL OR e.claimed_until <= now())`;
  const first = (condition: Prisma.Sql) =>
    Prisma.sql`(SELECT e.owner_id FROM event e WHERE ${isDue} AND ${condition} ORDER BY e.owner_id LIMIT 1)`;
  const ownerAfter = (id: Prisma.Sql) =>
    Prisma.sql`coalesce(${first(Prisma.sql`e.owner_id > ${id}`)}, ${first(Prisma.sql`TRUE`)})`;
  const dueOf = (which: Prisma.Sql) => Prisma.sql`
    SELECT e.id, e.created_at, e.scope, e.action, e.repo_id, e.owner_id, e.is_private, e.is_test, e.payload, e.traceparent, e.fan_out_cursor,
      e.claim_id IS NULL AS is_new, NOT ${mayActorWrite} AS is_by_outsider, ${movedTo} AS moved_to
    FROM event e WHERE ${isDue} AND ${which} FOR UPDATE SKIP LOCKED`;
  const due = isPlain
    ? Prisma.sql`SELECT e.*, turn.share FROM turn
        CROSS JOIN LATERAL (${dueOf(Prisma.sql`e.owner_id = turn.owner_id ORDER BY e.created_at, e.id LIMIT turn.share`)}) e`
    : Prisma.sql`SELECT e.*, 0 AS share FROM (${dueOf(Prisma.sql`e.id = ANY (${ids}::text[])`)}) e`;
  const lastOwner = isPlain
    ? Prisma.sql`(SELECT owner_id FROM turn ORDER BY owner_id <= ${after}::text DESC, owner_id DESC LIMIT 1)`
    : Prisma.sql`NULL`;
  const { text, values } = Prisma.sql`
    WITH RECURSIVE owner AS (
      SELECT ${ownerAfter(Prisma.sql`${after}::text`)} AS id UNION SELECT ${ownerAfter(Prisma.sql`o.id`)} FROM owner o WHERE o.id IS NOT NULL
    ), turn AS MATERIALIZED (
      SELECT id AS owner_id, greatest(1, ${limit}::int / count(*) OVER ()) AS share
      FROM (SELECT id FROM owner WHERE id IS NOT NULL LIMIT ${limit}::int) o
    ), due AS MATERIALIZED (${due}
    ), watcher AS MATERIALIZED (
      SELECT e.id AS event_id, e.is_new, e.is_by_outsider, w.*,
        CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS signing_previously,
        (w.disabled_at IS NULL AND ${subscribesTo(domain, Prisma.sql`e.scope || '.' || e.action`)} AND ${mayReceiveEvent}) AS may_receive
      FROM due e
      LEFT JOIN repo r ON r.id = e.repo_id
      CROSS JOIN LATERAL (
        SELECT webhook_id FROM (
          ${watchersOf(Prisma.sql`e.repo_id`)} UNION ${watchersOf(Prisma.sql`e.owner_id`)} UNION ${watchersOf(Prisma.sql`e.moved_to`)}
        ) each ORDER BY webhook_id LIMIT ${page}::int
      ) c
      JOIN webhook w ON w.id = c.webhook_id
      WHERE NOT e.is_test AND e.scope = ANY (${[...eventScopes]}::text[])
    ), e AS MATERIALIZED (
      UPDATE event e SET claim_id = ${claimId}, claimed_until = now() + make_interval(secs => ${LEASE_SECONDS}::int),
        counted_in = CASE WHEN NOT due.is_new AND e.counted_in IS NOT NULL THEN e.counted_in ELSE date_trunc('hour', now(), 'UTC') END
      FROM due WHERE e.id = due.id AND ${isDecided}
      RETURNING due.*, e.counted_in
    ), hours AS MATERIALIZED (
      SELECT DISTINCT date_trunc('hour', at, 'UTC') AS hour, date_trunc('hour', at, 'UTC') = date_trunc('hour', now(), 'UTC') AS is_now
      FROM unnest(ARRAY[now(), now() - interval '5 minutes']) at
    ), counted AS (
      INSERT INTO webhook_hour AS h (webhook_id, hour, triggered, by_outsiders)
      SELECT w.id, hours.hour, CASE WHEN is_now THEN w.triggered ELSE 0 END, CASE WHEN is_now THEN w.by_outsiders ELSE 0 END
      FROM (SELECT id, count(*) FILTER (WHERE is_new) AS triggered, count(*) FILTER (WHERE is_new AND is_by_outsider) AS by_outsiders
        FROM watcher WHERE may_receive AND event_id = ANY (ARRAY(SELECT e.id FROM e)) GROUP BY id) w
      CROSS JOIN hours ORDER BY w.id, hours.hour
      ON CONFLICT (webhook_id, hour) DO UPDATE SET triggered = h.triggered + excluded.triggered,
        by_outsiders = h.by_outsiders + excluded.by_outsiders
      RETURNING h.webhook_id, h.triggered, h.by_outsiders, h.rate_limited
    ), triggers AS (
      SELECT webhook_id, sum(triggered)::int AS triggered, sum(by_outsiders)::int AS by_outsiders, sum(rate_limited)::int AS rate_limited FROM (
        SELECT * FROM counted
        UNION ALL SELECT c.webhook_id, h.triggered, h.by_outsiders, h.rate_limited FROM (SELECT DISTINCT webhook_id FROM counted) c
          CROSS JOIN LATERAL (SELECT triggered, by_outsiders, rate_limited FROM webhook_hour h WHERE h.webhook_id = c.webhook_id
            AND h.hour < (SELECT min(hour) FROM hours) AND h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours' OFFSET 0) h
      ) all_hours GROUP BY webhook_id
    )
    SELECT e.id, e.scope, e.action, e.is_by_outsider, e.is_new, e.counted_in, e.traceparent,
      CASE WHEN row_number() OVER (PARTITION BY e.id ORDER BY w.id) = 1 THEN e.payload::text END AS payload,
      w.id AS webhook_id, w.owner_id, w.url, w.secret, w.signing_previously, w.disabled_reason, w.failing_since, w.may_receive,
      CASE WHEN row_number() OVER (ORDER BY e.created_at, e.id, w.id) = 1 THEN (
        SELECT json_agg(json_build_object('webhookId', webhook_id, 'triggered', triggered, 'byOutsiders', by_outsiders, 'rateLimited', rate_limited))
        FROM triggers WHERE triggered > ${triggersPerDay}::int OR by_outsiders > ${outsiders}::int
      ) END AS over_limit, (SELECT json_agg(due.id) FROM due WHERE due.id NOT IN (SELECT id FROM e)) AS undecided,
      EXISTS (SELECT FROM due GROUP BY owner_id HAVING count(*) >= max(share)) AS is_full,
      ${lastOwner} AS last_owner
    FROM (VALUES (1)) one LEFT JOIN e ON true LEFT JOIN watcher w ON w.event_id = e.id
    ORDER BY e.created_at, e.id, w.id`;
  return { text, values };
}

const domain = Prisma.sql`CASE WHEN starts_with(e.scope, 'repo') THEN 'repo' ELSE 'discussion' END`;

/** JSON may contain NUL, and Postgres cannot take such an object apart. */
const isReadable = Prisma.sql`strpos(e.payload::text, '\\u0000') = 0`;

const movedTo = Prisma.sql`CASE WHEN e.action = 'move' AND ${isReadable} THEN e.payload -> 'movedTo' -> 'owner' ->> 'id' END`;

const isOfPullRequests = Prisma.sql`CASE WHEN ${isReadable} THEN coalesce((
  SELECT bool_and(changed ->> 'ref' LIKE 'refs/pr/%') FROM json_array_elements(e.payload -> 'updatedRefs') changed), false) ELSE true END`;

/**
 * Events without a user count as those of a user who may write, except a platform's discussions and pushes to pull requests. Does
 * not use EXISTS, which Postgres could turn into a hash of all members.
 */
const mayActorWrite = Prisma.sql`(
  (e.actor_id IS NULL AND (e.source IS NULL OR (e.scope LIKE 'repo%' AND NOT ${isOfPullRequests}))) OR e.actor_id IS NOT DISTINCT FROM e.owner_id OR coalesce((
  SELECT true FROM member_standing m WHERE m.org_id = e.owner_id AND m.user_id = e.actor_id
    AND ${membersWhoMay("repo.write", Prisma.sql`(SELECT r.created_by_id FROM repo r WHERE r.id = e.repo_id)`, { isPresent: false })}
  LIMIT 1), false))`;
