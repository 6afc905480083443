import type { Actor } from "../access/actor.ts";
import { delegationReads, mayAct } from "../access/delegation.ts";
import { membersWhoMay } from "../access/members-who-may.ts";
import { organizationsOf } from "../access/organizations-of.ts";
import { db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";

type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * The webhook's owner must be able to read the repositories of `ownerId` (S129). If a token created the webhook, its delegation
 * must allow this too. Callers check `isInForce`.
 * @param ownerId SQL of the repositories' owner
 * @param creatorClientId SQL, for apps that may access what they created
 */
export function webhookReads(ownerId: Prisma.Sql, creatorClientId?: Prisma.Sql): Prisma.Sql {
  // A subquery, because Postgres could turn EXISTS into a hash of all members.
  return Prisma.sql`(coalesce(w.owner_id = ${ownerId} OR (SELECT true FROM member_standing m
    WHERE m.org_id = ${ownerId} AND m.user_id = w.owner_id AND ${membersWhoMay("repo.read", null)} LIMIT 1), false)
    AND ${delegationReads(DELEGATION, ownerId, creatorClientId)})`;
}

const DELEGATION = Prisma.sql`w.delegation_id`;

const hasOwner: Prisma.Sql = Prisma.sql`coalesce(CASE w.owner_kind
  WHEN 'user' THEN (SELECT u.disabled_at IS NULL FROM "user" u WHERE u.id = w.owner_id)
  ELSE (SELECT true FROM organization o WHERE o.id = w.owner_id) END, false)`;

/** The owner is not disabled, and the token's grant still allows the webhook. */
export const isInForce: Prisma.Sql = Prisma.sql`(${hasOwner} AND ${mayAct("webhook.manage", DELEGATION, Prisma.sql`w.owner_id`)})`;

/** Anybody may watch any repository, and each page and each push counts the watchers (S137). */
export const COUNTED_MAX = 1_000;

const watched = ({ id, owner }: Watchable, max?: number): Prisma.Sql =>
  Prisma.sql`(SELECT webhook_id FROM webhook_watch WHERE target_id IN (${id}, ${owner.id}) ${max === undefined ? Prisma.empty : Prisma.sql`LIMIT ${max}`})`;

/**
 * Returns SQL from FROM on, to follow a select list. Only webhooks that may read the repository match (S129). The cost depends on
 * the matches, not on the number of webhooks.
 */
function watchers(repo: Watchable, max?: number): Prisma.Sql {
  const { id, owner, isPrivate } = repo;
  return Prisma.sql`FROM ${watched(repo, max)} i JOIN webhook w ON w.id = i.webhook_id
    WHERE w.disabled_at IS NULL AND ${isInForce}
      AND (NOT ${isPrivate} OR ${webhookReads(
        Prisma.sql`${owner.id}`,
        Prisma.sql`(SELECT r.created_by_client_id FROM repo r WHERE r.id = ${id})`,
      )})`;
}

export async function webhooksTriggered(repo: Watchable): Promise<string | undefined> {
  const { count, isMore } = await countWatchers(repo, subscribesTo(Prisma.sql`'repo'`, Prisma.sql`'repo.content.update'`));
  return count === 0 ? undefined : `${atLeast(count, isMore)} ${count === 1 && !isMore ? "webhook" : "webhooks"} triggered`;
}

async function countWatchers(repo: Watchable, condition = Prisma.sql`TRUE`): Promise<{ count: number; isMore: boolean }> {
  const [row] = await db().$queryRaw<{ count: number; isMore: boolean }[]>`
    SELECT count(DISTINCT w.id)::int AS count,
      (SELECT count(*) FROM ${watched(repo, COUNTED_MAX + 1)} AS all_watched) > ${COUNTED_MAX} AS "isMore"
    ${watchers(repo, COUNTED_MAX)} AND ${condition}`;
  return row ?? { count: 0, isMore: false };
}

const atLeast = (count: number, isMore: boolean): string => `${count.toLocaleString("en")}${isMore ? "+" : ""}`;

export const subscribesTo = (domain: Prisma.Sql, kind: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(${domain} = ANY (w.domains) AND (coalesce(cardinality(w.events), 0) = 0 OR ${kind} = ANY (w.events)))`;

type WatchingWebhook = {
  id: string;
  name: string | null;
  url: string | null;
  domains: string[];
  organization: string | null;
};

const NAMED_MAX = 20;

/** Webhooks of other owners are only counted, because only their owners may see them (S129). */
export async function watchingWebhooks(
  actor: Actor,
  repo: Watchable,
): Promise<{ named: WatchingWebhook[]; others: string | undefined }> {
  const ownerIds = actor.kind === "person" ? [actor.userId, ...(await organizationsOf(actor, "webhook.read"))] : [];
  const [named, { count, isMore }] = await Promise.all([
    ownerIds.length === 0
      ? []
      : db().$queryRaw<WatchingWebhook[]>`SELECT DISTINCT w.id, w.name, w.url, w.domains,
          (SELECT o.name FROM organization o WHERE w.owner_kind = 'organization' AND o.id = w.owner_id) AS organization
          ${watchers(repo)} AND w.owner_id = ANY (${ownerIds}) ORDER BY w.id LIMIT ${NAMED_MAX}`,
    countWatchers(repo),
  ]);
  return { named, others: count > named.length ? atLeast(count - named.length, isMore) : undefined };
}

const movedToOwner: Prisma.Sql = Prisma.sql`(CASE WHEN e.action = 'move' THEN e.payload->'movedTo'->'owner'->>'id' END)`;

/**
 * The webhook must be able to read the repository of the event as it was then and as it is now (S129). `r` is left-joined.
 * @param movedTo SQL of the new owner
 */
function mayReadEvent(movedTo: Prisma.Sql): Prisma.Sql {
  const reads = (ownerId: Prisma.Sql) => webhookReads(ownerId, Prisma.sql`r.created_by_client_id`);
  return Prisma.sql`((NOT e.is_private OR ${reads(Prisma.sql`e.owner_id`)} OR (e.action = 'move' AND ${reads(movedTo)}))
    AND (r.id IS NULL OR NOT r.is_private OR ${reads(Prisma.sql`r.owner_id`)}))`;
}

export function mayReceive(movedTo: Prisma.Sql = movedToOwner): Prisma.Sql {
  return Prisma.sql`(${isInForce} AND ${mayReadEvent(movedTo)})`;
}

/** Planning `mayReceive` takes long. This condition decides the common cases, and is NULL where `mayReceive` must decide. */
export const mayReceiveIfPlain: Prisma.Sql = Prisma.sql`(CASE WHEN w.delegation_id IS NULL
  AND (NOT e.is_private OR w.owner_id = e.owner_id) AND (r.id IS NULL OR NOT r.is_private OR w.owner_id = r.owner_id) THEN ${hasOwner} END)`;
