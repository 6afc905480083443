import type { EventPayload } from "@keyhook/sdk";
import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { afterCommit, db } from "../db.ts";
import { notFound, ServiceError } from "../errors.ts";
import { isId, newId } from "../ids.ts";
import { notify } from "../notifications.ts";
import { EVENT_CHANNEL } from "./record-event.ts";

export type ListedEvent = {
  id: string;
  scope: string;
  action: string;
  repoId: string;
  payload: EventPayload;
  actorId: string | null;
  source: string | null;
  sourceId: string | null;
  createdAt: Date;
  fannedOutAt: Date | null;
  fanOutError: string | null;
};

const EVENTS_MAX = 1_000;

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

export async function retryEvent(actor: Actor, id: string): Promise<void> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  if (!isId(id)) throw notFound("Event");
  await db().$transaction(async (tx) => {
    const { count } = await tx.event.updateMany({
      where: { id, fanOutError: { not: null } },
      // With a claim ID, the event counts as one whose lease expired, so no trigger is counted twice.
      data: { fannedOutAt: null, fanOutError: null, claimId: newId() },
    });
    if (count === 0) {
      if (!(await tx.event.findUnique({ where: { id }, select: { id: true } }))) throw notFound("Event");
      throw new ServiceError("conflict", "This event was not set aside: its deliveries exist or will be created.");
    }
    afterCommit(tx, () => notify(EVENT_CHANNEL));
  });
}
