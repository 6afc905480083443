import type { DeliveryJson } from "@keyhook/sdk";
import type { AttemptOutcome, DeliveryState } from "../vocabulary.ts";

export type Delivery = {
  id: string;
  kind: "event" | "test";
  event: { id: string; scope: string; action: string };
  repo: { id: string; type: string; name: string };
  state: DeliveryState;
  attempts: number;
  lastOutcome: AttemptOutcome | null;
  lastStatus: number | null;
  lastDurationMs: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  nextAttemptAt: Date | null;
};

export type DeliveryRow = {
  id: string;
  webhook_id: string;
  owner_id: string;
  event_id: string;
  kind: Delivery["kind"];
  scope: string;
  action: string;
  repo_id: string;
  repo_type: string;
  repo_name: string;
  state: DeliveryState;
  attempts: number;
  last_outcome: AttemptOutcome | null;
  last_status: number | null;
  last_duration_ms: number | null;
  created_at: Date;
  finished_at: Date | null;
  next_attempt_at: Date | null;
};

export const deliveryColumns = `d.*, CASE WHEN d.state = 'waiting' AND isfinite(q.due_at) THEN q.due_at END AS next_attempt_at`;

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    kind: row.kind,
    event: { id: row.event_id, scope: row.scope, action: row.action },
    repo: { id: row.repo_id, type: row.repo_type, name: row.repo_name },
    state: row.state,
    attempts: row.attempts,
    lastOutcome: row.last_outcome,
    lastStatus: row.last_status,
    lastDurationMs: row.last_duration_ms,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    nextAttemptAt: row.next_attempt_at,
  };
}

export function deliveryJson({ createdAt, finishedAt, nextAttemptAt, ...rest }: Delivery): DeliveryJson {
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
}
