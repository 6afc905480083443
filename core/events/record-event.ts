import { type EventPayload, eventPayloadSchema } from "@keyhook/sdk";
import { afterCommit, type Sql } from "../db.ts";
import { newOrderedId } from "../ids.ts";
import { notify } from "../notifications.ts";
import { currentTraceparent } from "../telemetry.ts";

export const EVENT_CHANNEL = "event";

export type NewEvent = {
  payload: EventPayload;
  /** Null for the system, the operator's command and a deleted account. */
  actorId: string | null;
  from?: { source: string; sourceId: string };
  traceparent?: string | null;
};

/** The change and the event share one transaction (S122), whose cost does not depend on the number of webhooks (decision 092). */
export async function recordEvent(tx: Sql, event: NewEvent): Promise<string> {
  const [id = ""] = await recordEvents(tx, [event]);
  return id;
}

export async function recordEvents(tx: Sql, events: readonly NewEvent[]): Promise<string[]> {
  return insertEvents(tx, events.map(toRow));
}

export async function insertEvents(tx: Sql, rows: readonly ReturnType<typeof toRow>[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  // A plain statement, because with Prisma this would take a third of a publishing request's time.
  await tx.$executeRaw`
    INSERT INTO event (id, scope, action, repo_id, repo_type, owner_id, is_private, actor_id, payload, source, source_id, traceparent)
    SELECT id, scope, action, repo_id, repo_type, owner_id, is_private, actor_id, payload::json, source, source_id, traceparent
      FROM unnest(${column("id")}::text[], ${column("scope")}::text[], ${column("action")}::text[], ${column("repoId")}::text[],
        ${column("repoType")}::text[], ${column("ownerId")}::text[], ${column("isPrivate")}::boolean[], ${column("actorId")}::text[],
        ${column("payload")}::text[], ${column("source")}::text[], ${column("sourceId")}::text[], ${column("traceparent")}::text[])
        AS e(id, scope, action, repo_id, repo_type, owner_id, is_private, actor_id, payload, source, source_id, traceparent)`;
  afterCommit(tx, () => notify(EVENT_CHANNEL));
  return rows.map(({ id }) => id);
}

export function toRow({ payload, actorId, from, traceparent = currentTraceparent() }: NewEvent) {
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
    payload: JSON.stringify(checked),
    source: from?.source ?? null,
    sourceId: from?.sourceId ?? null,
    traceparent,
  };
}
