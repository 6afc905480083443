import type { EventDomain } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";

/** What a webhook can watch: the repository itself, or whoever owns it. */
export type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * How many enabled webhooks an event of this repository sets off: those that watch it or its owner, in its domain, and whose own
 * owner may read it (S129). Found by the watched items' index, so that the cost follows the matches and not the webhooks there are.
 */
export async function countWatching({ id, owner, isPrivate }: Watchable, domain: EventDomain, tx: Db = db()): Promise<number> {
  const [row] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(DISTINCT w.id)::int AS count
      FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
     WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL AND ${domain} = ANY (w.domains)
       AND (NOT ${isPrivate} OR w.owner_id = ${owner.id}
            OR EXISTS (SELECT FROM membership m WHERE m.org_id = ${owner.id} AND m.user_id = w.owner_id))`;
  return row?.count ?? 0;
}
