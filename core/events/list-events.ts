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
  /** For an event from outside. */
  source: string | null;
  sourceId: string | null;
  createdAt: Date;
  /** When its deliveries were created; null until all of them are. */
  fannedOutAt: Date | null;
  /** Why no deliveries could be created and it was set aside. */
  fanOutError: string | null;
};

const EVENTS_MAX = 1_000;

/**
 * Lists the recorded events, latest first. Operators see here whether an event was recorded at all, and what became of it. Events made
 * up for a webhook's test are left out.
 * @param of limits the list to one repository
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
