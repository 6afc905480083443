import type { DeliveryJson } from "@keyhook/sdk";
import type { AttemptOutcome, DeliveryState } from "../vocabulary.ts";

/** One event for one webhook, as lists show it. */
export type Delivery = {
  id: string;
  kind: "event" | "test";
  event: { id: string; scope: string; action: string };
  /** The repository, with its name at that time. */
  repo: { id: string; type: string; name: string };
  state: DeliveryState;
  attempts: number;
  lastOutcome: AttemptOutcome | null;
  lastStatus: number | null;
  lastDurationMs: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The time of a waiting delivery's next attempt; null while its webhook is disabled. */
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

/**
 * The columns of a `DeliveryRow`, from a delivery `d` and its row `q` of the queue. A delivery held until its webhook is
 * enabled has no time.
 */
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

/** The form used by the API and by both doors' live tails. */
export function deliveryJson({ createdAt, finishedAt, nextAttemptAt, ...rest }: Delivery): DeliveryJson {
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
}
