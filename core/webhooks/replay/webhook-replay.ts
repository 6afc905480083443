import type { WebhookReplayJson } from "@keyhook/sdk";
import type { LeasedTable } from "../../postgres/leased-table.ts";

export type WebhookReplay = {
  id: string;
  webhookId: string;
  createdById: string | null;
  /** `failed` means all deliveries that failed in a range of time. */
  of: "selected" | "failed";
  since: Date | null;
  until: Date | null;
  state: "running" | "cancelled" | "finished";
  total: number;
  /** The number does not include deliveries that were already waiting. */
  queued: number;
  delivered: number;
  failed: number;
  createdAt: Date;
  finishedAt: Date | null;
};

export type ReplayRow = {
  id: string;
  webhook_id: string;
  owner_id: string;
  created_by_id: string | null;
  delivery_ids: string[] | null;
  since: Date | null;
  until: Date | null;
  cursor: string | null;
  total: number;
  queued: number;
  delivered: number;
  failed: number;
  created_at: Date;
  cancelled_at: Date | null;
  finished_at: Date | null;
};

/** Anybody can create many organizations, so users take turns. */
export const replayTable: LeasedTable = {
  name: "webhook_replay",
  isOpen: "finished_at is null",
  share: { party: "coalesce(created_by_id, owner_id)", isShort: "true", isLeftOver: "false" },
};

export const REPLAY_CHANNEL = "webhook_replay";

export const SELECTED_MAX = 1_000;
export const FAILED_MAX = 100_000;
export const RUNNING_MAX = 3;

export function toReplay(row: ReplayRow): WebhookReplay {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    createdById: row.created_by_id,
    of: row.since === null ? "selected" : "failed",
    since: row.since,
    until: row.until,
    state: row.cancelled_at !== null ? "cancelled" : row.finished_at !== null ? "finished" : "running",
    ...{ total: row.total, queued: row.queued, delivered: row.delivered, failed: row.failed },
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

export function replayJson({
  webhookId,
  createdById: _,
  since,
  until,
  createdAt,
  finishedAt,
  ...rest
}: WebhookReplay): WebhookReplayJson {
  return {
    ...rest,
    webhook: webhookId,
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
