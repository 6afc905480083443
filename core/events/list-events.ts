import type { EventPayload } from "@keyhook/sdk";
import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { db } from "../db.ts";
import { isId } from "../ids.ts";

export type ListedEvent = {
  id: string;
  scope: string;
  action: string;
  repoId: string;
  payload: EventPayload;
  actorId: string | null;
  /** Of an event from outside. */
  source: string | null;
  sourceId: string | null;
  createdAt: Date;
  /** When its deliveries were made; null while they are not, or not all. */
  fannedOutAt: Date | null;
  /** Why no deliveries could be made of it: it was set aside. */
  fanOutError: string | null;
};

const EVENTS_MAX = 1_000;

/**
 * What was recorded, the latest first: for operators, who find out here whether an event was made at all, and what became of it. What was
 * made up for a webhook's test happened to nobody, and is left out.
 * @param of only those of one repository
 * @throws ServiceError `forbidden`
 */
export async function listEvents(actor: Actor, of: { repoId?: string; limit?: number } = {}): Promise<ListedEvent[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const { repoId, limit = 100 } = of;
  if (repoId !== undefined && !isId(repoId)) return [];
  const rows = await db().event.findMany({
    where: { isTest: false, ...(repoId !== undefined && { repoId }) },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: Math.min(Math.max(Math.trunc(limit) || 1, 1), EVENTS_MAX),
  });
  return rows.map(({ id, scope, action, repoId, payload, actorId, source, sourceId, createdAt, fannedOutAt, fanOutError }) => ({
    ...{
      id,
      scope,
      action,
      repoId,
      payload: payload as EventPayload,
      actorId,
      source,
      sourceId,
      createdAt,
      fannedOutAt,
      fanOutError,
    },
  }));
}
