import type pg from "pg";
import { Prisma } from "../../generated/prisma/client.ts";
import { mayBeTold } from "../may-be-told.ts";

/** Where to look for the webhooks of an event. */
export type Watched = {
  repoId: string;
  ownerId: string;
  /** The new owner, if the event is a move. */
  movedToOwnerId: string | null;
  action: string;
  isPrivate: boolean;
  domain: string;
  /** Only webhooks after this one. */
  cursor: string | null;
};

/** A webhook that watches something of the event, ordered by event, then by webhook. */
export type Watcher = { event: number; webhookId: string; ownerId: string; url: string | null; isTold: boolean };

/**
 * The webhooks of some events, up to `limit` of each. The watchers of a repository, its owner and its new owner after a move
 * are read in index order and each is found once, so that the cost depends on the watchers of these targets, not on the number
 * of webhooks.
 */
export async function matchWebhooks(tx: pg.ClientBase, events: readonly Watched[], limit: number): Promise<Watcher[]> {
  const { text, values } = matchQuery(events, limit);
  const { rows } = await tx.query<Watcher>({ name: "match-webhooks", text, values });
  return rows;
}

export function matchQuery(events: readonly Watched[], limit: number): { text: string; values: unknown[] } {
  const column = <Name extends keyof Watched>(name: Name) => events.map((event) => event[name]);
  const watchersOf = (target: Prisma.Sql) => Prisma.sql`(SELECT i.webhook_id FROM webhook_watch i
    WHERE i.target_id = ${target} AND i.webhook_id > e.cursor ORDER BY i.webhook_id LIMIT ${limit})`;
  const query = Prisma.sql`
    WITH e AS MATERIALIZED (
      SELECT n::int AS n, repo_id, owner_id, moved_to, action, is_private, domain, coalesce(cursor, '') AS cursor
      FROM unnest(${column("repoId")}::text[], ${column("ownerId")}::text[], ${column("movedToOwnerId")}::text[],
        ${column("action")}::text[], ${column("isPrivate")}::bool[], ${column("domain")}::text[], ${column("cursor")}::text[])
        WITH ORDINALITY AS t(repo_id, owner_id, moved_to, action, is_private, domain, cursor, n)
    )
    SELECT e.n - 1 AS event, w.id AS "webhookId", w.owner_id AS "ownerId", w.url,
      (w.disabled_at IS NULL AND e.domain = ANY (w.domains) AND ${mayBeTold(Prisma.sql`e.moved_to`)}) AS "isTold"
    FROM e
    LEFT JOIN repo r ON r.id = e.repo_id
    CROSS JOIN LATERAL (
      SELECT webhook_id FROM (
        ${watchersOf(Prisma.sql`e.repo_id`)} UNION ${watchersOf(Prisma.sql`e.owner_id`)} UNION ${watchersOf(Prisma.sql`e.moved_to`)}
      ) each ORDER BY webhook_id LIMIT ${limit}
    ) c
    JOIN webhook w ON w.id = c.webhook_id
    ORDER BY e.n, w.id`;
  return { text: query.text, values: query.values };
}
