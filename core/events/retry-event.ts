import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { db } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId } from "../ids.ts";
import { EVENT_CHANNEL } from "./record-event.ts";

/**
 * Fans out an event that was set aside again, once the cause is fixed.
 * @throws ServiceError `not_found`; `conflict` if it was not set aside; `forbidden`
 */
export async function retryEvent(actor: Actor, id: string): Promise<void> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  if (!isId(id)) throw notFound("Event");
  await db().$transaction(async (tx) => {
    const { count } = await tx.event.updateMany({
      where: { id, fanOutError: { not: null } },
      data: { fannedOutAt: null, fanOutError: null },
    });
    if (count === 0) {
      if (!(await tx.event.findUnique({ where: { id }, select: { id: true } }))) throw notFound("Event");
      throw new ServiceError("conflict", "It was not set aside: its deliveries were made, or will be.");
    }
    await tx.$executeRaw`SELECT pg_notify(${EVENT_CHANNEL}, ${id})`;
  });
}
