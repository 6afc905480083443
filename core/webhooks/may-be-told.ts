import { Prisma } from "../generated/prisma/client.ts";
import { isInForce, webhookReads } from "./watchers.ts";

/** The new owner of the repository if event `e` is a move; otherwise NULL. */
const movedToOwner: Prisma.Sql = Prisma.sql`(CASE WHEN e.action = 'move' THEN e.payload->'movedTo'->'owner'->>'id' END)`;

/**
 * SQL condition: whether webhook `w` may carry event `e`, checked when its deliveries are created, and again before each
 * attempt (S129). `r` is the event's repository, left-joined.
 *
 * The webhook must be able to read the repository both as it was then and as it is now. Those who can read it only since it
 * became public do not receive what happened while it was private; those who lost access when it became private do not receive
 * what happened before.
 * @param movedTo SQL of the owner that the repository was moved to with this event
 */
function mayReadEvent(movedTo: Prisma.Sql): Prisma.Sql {
  const reads = (ownerId: Prisma.Sql) => webhookReads(ownerId, Prisma.sql`r.created_by_client_id`);
  return Prisma.sql`((NOT e.is_private OR ${reads(Prisma.sql`e.owner_id`)} OR (e.action = 'move' AND ${reads(movedTo)}))
    AND (r.id IS NULL OR NOT r.is_private OR ${reads(Prisma.sql`r.owner_id`)}))`;
}

/** The same, for a webhook that may act at all. */
export function mayBeTold(movedTo: Prisma.Sql = movedToOwner): Prisma.Sql {
  return Prisma.sql`(${isInForce} AND ${mayReadEvent(movedTo)})`;
}
