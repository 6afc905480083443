import { Prisma } from "../generated/prisma/client.ts";
import { isInForce, webhookReads } from "./watchers.ts";

/** Of an event `e`: whose the repository became, when it says that it moved; NULL otherwise. */
const movedToOwner: Prisma.Sql = Prisma.sql`(CASE WHEN e.action = 'move' THEN e.payload->'movedTo'->'owner'->>'id' END)`;

/**
 * Whether webhook `w` may carry event `e`, as an SQL condition: asked when its deliveries are made, and again before each attempt (S129).
 * `r` is the event's repository, joined from the left.
 *
 * The webhook must be able to read the repository both as it was then and as it is now. What happened while it was private is not told
 * to those who can read it only since it became public; what happened before it became private is not told to those who lost access.
 * @param movedTo SQL of the owner that the repository was moved to with this event
 */
function mayReadEvent(movedTo: Prisma.Sql): Prisma.Sql {
  const reads = (ownerId: Prisma.Sql) => webhookReads(ownerId, Prisma.sql`r.created_by_client_id`);
  return Prisma.sql`((NOT e.is_private OR ${reads(Prisma.sql`e.owner_id`)} OR (e.action = 'move' AND ${reads(movedTo)}))
    AND (r.id IS NULL OR NOT r.is_private OR ${reads(Prisma.sql`r.owner_id`)}))`;
}

/** The same, of a webhook that may act at all. */
export function mayBeTold(movedTo: Prisma.Sql = movedToOwner): Prisma.Sql {
  return Prisma.sql`(${isInForce} AND ${mayReadEvent(movedTo)})`;
}
