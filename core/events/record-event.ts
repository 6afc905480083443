import { type EventPayload, eventPayloadSchema } from "@keyhook/sdk";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";

/** NOTIFY channel that wakes whoever makes deliveries of events. */
export const EVENT_CHANNEL = "event";

export type NewEvent = {
  payload: EventPayload;
  /** The user who did it; null for the system, the operator's command and a deleted account. */
  actorId: string | null;
  /** Of an event from outside: the CloudEvents `source` and `id`. */
  from?: { source: string; sourceId: string };
};

/**
 * Records what changed, once, in the transaction of the change: both are kept or neither is (S122). Nothing else happens here, so
 * that a change costs the same whether one webhook watches or 100,000 do (architecture decision 8).
 * @returns the event's id
 */
export async function recordEvent(tx: Db, { payload, actorId, from }: NewEvent): Promise<string> {
  // What clients will parse is parsed here first: a payload that is not in the contract never leaves.
  const checked = eventPayloadSchema.parse(payload);
  const id = newId();
  await tx.event.create({
    data: {
      id,
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
    },
  });
  await tx.$executeRaw`SELECT pg_notify(${EVENT_CHANNEL}, ${id})`;
  return id;
}
