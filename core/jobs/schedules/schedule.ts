import { describeDelegations, type MadeWith } from "../../access/delegation.ts";
import type { Db } from "../../db.ts";
import type { LeasedTable } from "../../postgres/leased-table.ts";
import { type StoredSpec, storedSpecSchema } from "../runs/run.ts";
import { unsealJobSecrets } from "../secrets.ts";
import type { JobStage } from "../stages.ts";

export type Schedule = {
  id: string;
  ownerId: string;
  createdById: string | null;
  madeWith: MadeWith | null;
  spec: StoredSpec;
  /** The values of secrets are never shown (S134). */
  secretNames: string[];
  schedule: string;
  timezone: string;
  mayOverlap: boolean;
  isSuspended: boolean;
  message: string | null;
  createdAt: Date;
  nextRunAt: Date | null;
  lastRun: { id: string; at: Date; stage: JobStage } | null;
};

export type ScheduleRow = {
  id: string;
  ownerId: string;
  ownerKind: string;
  createdById: string | null;
  delegationId: string | null;
  spec: unknown;
  secrets: Uint8Array | null;
  schedule: string;
  timezone: string;
  mayOverlap: boolean;
  isSuspended: boolean;
  message: string | null;
  lastRunId: string | null;
  createdAt: Date;
  dueAt: Date | null;
};

export async function toSchedules(tx: Db, rows: readonly ScheduleRow[]): Promise<Schedule[]> {
  const runIds = rows.flatMap(({ lastRunId }) => lastRunId ?? []);
  const found = await tx.jobRun.findMany({
    where: { id: { in: runIds } },
    select: { id: true, createdAt: true, stage: true },
  });
  const runs = new Map(found.map(({ id, createdAt, stage }) => [id, { id, at: createdAt, stage: stage as JobStage }]));
  const madeWith = await describeDelegations(
    rows.map(({ delegationId }) => delegationId),
    tx,
  );
  return rows.map(({ secrets, spec, dueAt, lastRunId, delegationId, ownerKind: _, ...row }) => ({
    ...row,
    madeWith: (delegationId && madeWith.get(delegationId)) || null,
    spec: storedSpecSchema.parse(spec),
    secretNames: Object.keys(unsealJobSecrets(secrets)).sort(),
    nextRunAt: row.isSuspended ? null : dueAt,
    lastRun: (lastRunId && runs.get(lastRunId)) || null,
  }));
}

/** Users take turns instead of owners, because anybody can create many organizations. */
export const scheduleTable: LeasedTable = {
  name: "scheduled_job",
  isOpen: "not is_suspended",
  share: { party: "coalesce(created_by_id, owner_id)", isShort: "true", isLeftOver: "false" },
};

export const SCHEDULE_CHANNEL = "scheduled_job";
