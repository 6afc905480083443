import { membersWhoMay } from "../access/members-who-may.ts";
import { Prisma } from "../generated/prisma/client.ts";

/** What a webhook can watch: the repository itself, or whoever owns it. */
export type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * Whether the owner of webhook `w` may read the private repositories of somebody: a person their own and those of an organization in
 * which their standing lets them, an organization its own (S129). One that was deleted or disabled may read nothing, see `hasOwner`.
 * @param ownerId SQL of that somebody's id
 */
export function ownerReads(ownerId: Prisma.Sql): Prisma.Sql {
  // A subquery and not EXISTS, for which the planner may read and hash all members there are.
  return Prisma.sql`coalesce(w.owner_id = ${ownerId} OR (SELECT true FROM member_standing m
    WHERE m.org_id = ${ownerId} AND m.user_id = w.owner_id AND ${membersWhoMay("repo.read", null)} LIMIT 1), false)`;
}

/** Whether the owner of webhook `w` is there, and not disabled. */
export const hasOwner: Prisma.Sql = Prisma.sql`coalesce(CASE w.owner_kind
  WHEN 'user' THEN (SELECT u.disabled_at IS NULL FROM "user" u WHERE u.id = w.owner_id)
  ELSE (SELECT true FROM organization o WHERE o.id = w.owner_id) END, false)`;

/**
 * The enabled webhooks `w` that watch a repository or its owner, and whose own owner may read it (S129), as what follows `SELECT`.
 * Found by the watched items' index, so that the cost follows the matches and not the webhooks there are.
 */
export function watchers({ id, owner, isPrivate }: Watchable): Prisma.Sql {
  return Prisma.sql`FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
    WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL AND ${hasOwner}
      AND (NOT ${isPrivate} OR ${ownerReads(Prisma.sql`${owner.id}`)})`;
}
