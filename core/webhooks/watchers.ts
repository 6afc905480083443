import { delegationReads, mayAct } from "../access/delegation.ts";
import { membersWhoMay } from "../access/members-who-may.ts";
import { Prisma } from "../generated/prisma/client.ts";

/** What a webhook can watch: the repository itself, or its owner. */
export type Watchable = { id: string; owner: { id: string }; isPrivate: boolean };

/**
 * Whether webhook `w` may carry events of an owner's private repositories: the webhook's owner must be able to read them: a
 * person their own and those of an organization if their standing allows it, an organization its own (S129). The current grant
 * of the token that created the webhook or changed it last must allow it too. A webhook that may not act at all carries
 * nothing, see `isInForce`.
 * @param ownerId SQL of the repositories' owner's id
 * @param makerClientId SQL of the client that created the repository, for apps that may access what they created
 */
export function webhookReads(ownerId: Prisma.Sql, makerClientId?: Prisma.Sql): Prisma.Sql {
  // A subquery instead of EXISTS, for which the planner may read and hash all members.
  return Prisma.sql`(coalesce(w.owner_id = ${ownerId} OR (SELECT true FROM member_standing m
    WHERE m.org_id = ${ownerId} AND m.user_id = w.owner_id AND ${membersWhoMay("repo.read", null)} LIMIT 1), false)
    AND ${delegationReads(DELEGATION, ownerId, makerClientId)})`;
}

const DELEGATION = Prisma.sql`w.delegation_id`;

/** Whether webhook `w` may act: its owner exists and is not disabled, and the grant under which it was created is valid. */
export const isInForce: Prisma.Sql = Prisma.sql`(coalesce(CASE w.owner_kind
  WHEN 'user' THEN (SELECT u.disabled_at IS NULL FROM "user" u WHERE u.id = w.owner_id)
  ELSE (SELECT true FROM organization o WHERE o.id = w.owner_id) END, false) AND ${mayAct("webhook.manage", DELEGATION, Prisma.sql`w.owner_id`)})`;

/**
 * The enabled webhooks `w` that watch a repository or its owner and may carry its events (S129), as the part after `SELECT`.
 * The index of watched items finds them, so that the cost depends on the matches, not on the number of webhooks.
 */
export function watchers({ id, owner, isPrivate }: Watchable): Prisma.Sql {
  return Prisma.sql`FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
    WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL AND ${isInForce}
      AND (NOT ${isPrivate} OR ${webhookReads(
        Prisma.sql`${owner.id}`,
        Prisma.sql`(SELECT r.created_by_client_id FROM repo r WHERE r.id = ${id})`,
      )})`;
}
