import { type EventPayload, eventPayloadSchema } from "@keyhook/sdk";
import type { Db } from "../db.ts";
import { newOrderedId } from "../ids.ts";
import { currentTraceparent } from "../telemetry.ts";

/** NOTIFY channel that wakes the workers which fan events out. */
export const EVENT_CHANNEL = "event";

export type NewEvent = {
  payload: EventPayload;
  /** The user who did it; null for the system, the operator's command and a deleted account. */
  actorId: string | null;
  /** For an event from outside: the CloudEvents `source` and `id`. */
  from?: { source: string; sourceId: string };
};

/**
 * Records a change once, in the transaction of the change: both are kept or neither is (S122). Nothing else happens here, so that a
 * change costs the same whether one webhook watches or 100,000 do (docs/decisions/048).
 * @returns the event's id
 */
export async function recordEvent(tx: Db, event: NewEvent): Promise<string> {
  const row = toRow(event);
  await tx.event.create({ data: row });
  await tx.$executeRaw`SELECT pg_notify(${EVENT_CHANNEL}, ${row.id})`;
  return row.id;
}

/** The same for many changes at once, such as deleting an account with all it owns: few statements and one NOTIFY. @returns their ids */
export async function recordEvents(tx: Db, events: readonly NewEvent[]): Promise<string[]> {
  const rows = events.map(toRow);
  const [first] = rows;
  if (!first) return [];
  await tx.event.createMany({ data: rows });
  await tx.$executeRaw`SELECT pg_notify(${EVENT_CHANNEL}, ${first.id})`;
  return rows.map(({ id }) => id);
}

function toRow({ payload, actorId, from }: NewEvent) {
  // Clients will parse the payload, so it is parsed here first: one that breaks the contract is never sent.
  const checked = eventPayloadSchema.parse(payload);
  return {
    id: newOrderedId(),
    scope: checked.event.scope,
    action: checked.event.action,
    repoId: checked.repo.id,
    repoType: checked.repo.type,
    ownerId: checked.repo.owner.id,
    isPrivate: checked.repo.private,
    actorId,
    payload: checked,
    source: from?.source ?? null,
    sourceId: from?.sourceId ?? null,
    traceparent: currentTraceparent(),
  };
}
