import { Prisma } from "../generated/prisma/client.ts";
import { hasOwner, ownerReads } from "./watchers.ts";

/** Of an event `e`: whose the repository became, when it says that it moved; NULL otherwise. */
const movedToOwner: Prisma.Sql = Prisma.sql`(CASE WHEN e.action = 'move' THEN e.payload->'movedTo'->'owner'->>'id' END)`;

/**
 * Whether the owner of webhook `w` may read what event `e` tells, as an SQL condition: asked when its deliveries are made, and again before
 * each attempt (S129). `r` is the event's repository, joined from the left.
 *
 * Both hold: they may read what the repository was then, and what it is now. What happened while it was private is not told to those
 * who may read it only since it is public; what happened before it became private goes to nobody who may not read it any more.
 * @param movedTo SQL of the owner that the repository was moved to with this event
 */
function mayReadEvent(movedTo: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`((NOT e.is_private OR ${ownerReads(Prisma.sql`e.owner_id`)} OR (e.action = 'move' AND ${ownerReads(movedTo)}))
    AND (r.id IS NULL OR NOT r.is_private OR ${ownerReads(Prisma.sql`r.owner_id`)}))`;
}

/** The same, of a webhook whose owner is there and not disabled: who is not gets nothing. */
export function mayBeTold(movedTo: Prisma.Sql = movedToOwner): Prisma.Sql {
  return Prisma.sql`(${hasOwner} AND ${mayReadEvent(movedTo)})`;
}
