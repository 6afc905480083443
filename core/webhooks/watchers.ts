import type { Actor } from "../access/actor.ts";
import { delegationReads, mayAct } from "../access/delegation.ts";
import { membersWhoMay } from "../access/members-who-may.ts";
import { organizationsOf } from "../access/organizations-of.ts";
import { db } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";

/** What a webhook can watch: the repository itself, or its owner. */
type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * Whether webhook `w` may carry events of an owner's private repositories. The webhook's owner must be able to read them. A
 * person can read their own repositories, and those of an organization if their standing there allows it; an organization can
 * read its own (S129). The current grant of the token that created the webhook or changed it last must allow it too. A webhook
 * that may not act at all carries nothing, see `isInForce`.
 * @param ownerId SQL of the repositories' owner's id
 * @param creatorClientId SQL of the client that created the repository, for apps that may access what they created
 */
export function webhookReads(ownerId: Prisma.Sql, creatorClientId?: Prisma.Sql): Prisma.Sql {
  // A subquery instead of EXISTS, for which the planner may read and hash all members.
  return Prisma.sql`(coalesce(w.owner_id = ${ownerId} OR (SELECT true FROM member_standing m
    WHERE m.org_id = ${ownerId} AND m.user_id = w.owner_id AND ${membersWhoMay("repo.read", null)} LIMIT 1), false)
    AND ${delegationReads(DELEGATION, ownerId, creatorClientId)})`;
}

const DELEGATION = Prisma.sql`w.delegation_id`;

const hasOwner: Prisma.Sql = Prisma.sql`coalesce(CASE w.owner_kind
  WHEN 'user' THEN (SELECT u.disabled_at IS NULL FROM "user" u WHERE u.id = w.owner_id)
  ELSE (SELECT true FROM organization o WHERE o.id = w.owner_id) END, false)`;

/**
 * Whether webhook `w` may act: its owner exists and is not disabled, and the grant of the token that created it or changed it last, if any,
 * still allows it to manage the owner's webhooks.
 */
export const isInForce: Prisma.Sql = Prisma.sql`(${hasOwner} AND ${mayAct("webhook.manage", DELEGATION, Prisma.sql`w.owner_id`)})`;

/** The maximum number of watchers that a count reads: anybody may watch any repository, and each page and each push counts them (S137). */
export const COUNTED_MAX = 1_000;

/** The webhooks that watch a repository or its owner. */
const watched = ({ id, owner }: Watchable, max?: number): Prisma.Sql =>
  Prisma.sql`(SELECT webhook_id FROM webhook_watch WHERE target_id IN (${id}, ${owner.id}) ${max === undefined ? Prisma.empty : Prisma.sql`LIMIT ${max}`})`;

/**
 * The enabled webhooks `w` that watch a repository or its owner and may carry its events (S129), as the part after `SELECT`.
 * The index of watched items finds them, so that the cost depends on the matches, not on the number of webhooks.
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

/** How many webhooks a push to this repository triggers, as words; undefined if none. */
export async function webhooksTriggered(repo: Watchable): Promise<string | undefined> {
  const { count, isMore } = await countWatchers(repo, subscribesTo(Prisma.sql`'repo'`, Prisma.sql`'repo.content.update'`));
  return count === 0 ? undefined : `${atLeast(count, isMore)} ${count === 1 && !isMore ? "webhook" : "webhooks"} triggered`;
}

/** Counts only the first `COUNTED_MAX` watchers. */
async function countWatchers(repo: Watchable, condition = Prisma.sql`TRUE`): Promise<{ count: number; isMore: boolean }> {
  const [row] = await db().$queryRaw<{ count: number; isMore: boolean }[]>`
    SELECT count(DISTINCT w.id)::int AS count,
      (SELECT count(*) FROM ${watched(repo, COUNTED_MAX + 1)} AS all_watched) > ${COUNTED_MAX} AS "isMore"
    ${watchers(repo, COUNTED_MAX)} AND ${condition}`;
  return row ?? { count: 0, isMore: false };
}

const atLeast = (count: number, isMore: boolean): string => `${count.toLocaleString("en")}${isMore ? "+" : ""}`;

/** Whether webhook `w` is to receive events of a domain and a kind. */
export const subscribesTo = (domain: Prisma.Sql, kind: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(${domain} = ANY (w.domains) AND (coalesce(cardinality(w.events), 0) = 0 OR ${kind} = ANY (w.events)))`;

type WatchingWebhook = {
  id: string;
  name: string | null;
  url: string | null;
  domains: string[];
  /** The name of the organization that owns it; null for the actor's own. */
  organization: string | null;
};

/** The maximum number of named watchers; the page shows how many more there are. */
const NAMED_MAX = 20;

/**
 * The enabled webhooks that watch a repository or its owner and may receive its events (S129). A person's own webhooks, and those of
 * organizations whose webhooks they may read, are named, however many others there are. The others are only counted, because only their
 * owners may see whom they notify.
 */
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

/** The new owner of the repository if event `e` is a move; otherwise NULL. */
const movedToOwner: Prisma.Sql = Prisma.sql`(CASE WHEN e.action = 'move' THEN e.payload->'movedTo'->'owner'->>'id' END)`;

/**
 * SQL condition: whether webhook `w` may carry event `e`, checked when its deliveries are created, and again before each attempt (S129).
 * `r` is the event's repository, left-joined.
 *
 * The webhook must be able to read the repository both as it was then and as it is now. Those who can read it only since it became public
 * do not receive events from the time when it was private. Those who lost access when it became private do not receive earlier events.
 * @param movedTo SQL of the owner that the repository was moved to with this event
 */
function mayReadEvent(movedTo: Prisma.Sql): Prisma.Sql {
  const reads = (ownerId: Prisma.Sql) => webhookReads(ownerId, Prisma.sql`r.created_by_client_id`);
  return Prisma.sql`((NOT e.is_private OR ${reads(Prisma.sql`e.owner_id`)} OR (e.action = 'move' AND ${reads(movedTo)}))
    AND (r.id IS NULL OR NOT r.is_private OR ${reads(Prisma.sql`r.owner_id`)}))`;
}

/** SQL condition: whether webhook `w` may act at all, and may carry event `e` (`mayReadEvent`). */
export function mayReceive(movedTo: Prisma.Sql = movedToOwner): Prisma.Sql {
  return Prisma.sql`(${isInForce} AND ${mayReadEvent(movedTo)})`;
}

/**
 * SQL: the same as `mayReceive` if no token created the webhook and the repository is public or of the same owner; otherwise NULL. In a
 * statement about few rows, Postgres takes longer to prepare the whole condition than to run everything else.
 */
export const mayReceiveIfPlain: Prisma.Sql = Prisma.sql`(CASE WHEN w.delegation_id IS NULL
  AND (NOT e.is_private OR w.owner_id = e.owner_id) AND (r.id IS NULL OR NOT r.is_private OR w.owner_id = r.owner_id) THEN ${hasOwner} END)`;
