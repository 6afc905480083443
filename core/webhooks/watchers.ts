import { membersWhoMay } from "../access/members-who-may.ts";
import { Prisma } from "../generated/prisma/client.ts";

/** What a webhook can watch: the repository itself, or whoever owns it. */
export type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * The enabled webhooks `w` that watch a repository or its owner, and whose own owner may read it (S129), as what follows `SELECT`.
 * Found by the watched items' index, so that the cost follows the matches and not the webhooks there are.
 */
export function watchers({ id, owner, isPrivate }: Watchable): Prisma.Sql {
  return Prisma.sql`FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
    WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL
      AND (NOT ${isPrivate} OR w.owner_id = ${owner.id}
           OR EXISTS (SELECT FROM member_standing m
                 WHERE m.org_id = ${owner.id} AND m.user_id = w.owner_id AND ${membersWhoMay("repo.read", null)}))`;
}
