import { jobSpecSchema } from "@keyhook/sdk";
import type { ActsFor } from "../../access/delegation.ts";
import type { Db } from "../../db.ts";
import { createRun } from "../runs/create-run.ts";
import { requireRoom } from "../runs/require-room.ts";
import type { RunOwner } from "../runs/run.ts";
import { unsealJobSecrets } from "../secrets.ts";
import { isOver, type JobStage } from "../stages.ts";
import type { ScheduleRow } from "./schedule.ts";

/**
 * Creates one run of a schedule whose row the caller has locked.
 * @returns the run's id
 * @throws ServiceError `rate_limited`: too many of its owner's runs wait
 */
export async function startRunOf(tx: Db, row: ScheduleRow, by: Pick<ActsFor, "createdById" | "delegationId">): Promise<string> {
  await requireRoom(tx, { id: row.ownerId });
  return createRun(tx, {
    owner: ownerOf(row),
    ...{ createdById: by.createdById, delegationId: by.delegationId },
    initiator: { type: "scheduled-job", id: row.id },
    spec: jobSpecSchema.parse(row.spec),
    secrets: unsealJobSecrets(row.secrets),
  });
}

/** Whether the latest run of a schedule is still running or waiting. */
export async function isRunning(tx: Db, { lastRunId }: Pick<ScheduleRow, "lastRunId">): Promise<boolean> {
  if (!lastRunId) return false;
  const last = await tx.jobRun.findUnique({ where: { id: lastRunId }, select: { stage: true } });
  return last !== null && !isOver(last.stage as JobStage);
}

export function ownerOf({ ownerId, ownerKind }: Pick<ScheduleRow, "ownerId" | "ownerKind">): RunOwner {
  return { kind: ownerKind === "organization" ? "organization" : "user", id: ownerId };
}
