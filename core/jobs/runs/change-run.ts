import type { JobSpec } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { requireOwnWorkOf } from "../../access/delegation.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db, inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { findJobNamespace, requireJobs } from "../find-job-namespace.ts";
import { JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL } from "../stages.ts";
import { namespaceOf, type RunOwner, runOf } from "./run.ts";

/** Such a run is ended by a worker. If its worker was lost, another one first removes what is left of it (`endLeftovers`). */
export const isBegun = Prisma.sql`(stage = 'RUNNING' OR claimed_until > now())`;

export async function cancelRun(actor: Actor, owner: RunOwner, id: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "job.run", namespaceOf(owner), { what: "Job" });
  if (!isId(id)) throw notFound("Job");
  await inTransaction(async (tx) => {
    const [wanted] = await tx.$queryRaw<{ isOver: boolean; isCancelled: boolean }[]>`
      SELECT finished_at IS NOT NULL AS "isOver", cancel_requested_at IS NOT NULL AS "isCancelled" FROM job_run
      WHERE id = ${id} AND owner_id = ${owner.id} FOR UPDATE`;
    if (!wanted) throw notFound("Job");
    if (wanted.isOver) return;
    await tx.$executeRaw`
      UPDATE job_run SET cancel_requested_at = coalesce(cancel_requested_at, now()),
        stage = CASE WHEN ${isBegun} THEN stage ELSE 'CANCELED' END,
        finished_at = CASE WHEN ${isBegun} THEN NULL ELSE now() END,
        claim_id = CASE WHEN ${isBegun} THEN claim_id END,
        message = CASE WHEN ${isBegun} THEN message ELSE 'It was cancelled before it started.' END
      WHERE id = ${id}`;
    if (!wanted.isCancelled) await recordAuditEvent(tx, { type: "job.cancel", actor, owner, data: { runId: id }, from });
    await tx.$executeRaw`SELECT pg_notify(${JOB_CANCEL_CHANNEL}, ${id}), pg_notify(${JOB_LOG_CHANNEL}, ${id})`;
  });
}

export async function updateRunLabels(
  actor: Actor,
  namespace: string,
  runId: string,
  labels: JobSpec["labels"],
  from: RequestOrigin,
): Promise<void> {
  const owner = await findJobNamespace(actor, "job.run", namespace);
  if (!isId(runId)) throw notFound("Job");
  await db().$transaction(async (tx) => {
    await requireJobs(actor, "job.run", owner, tx);
    const row = await tx.jobRun.findFirst({ where: { id: runId, ownerId: owner.id }, omit: { payload: true, secrets: true } });
    if (!row) throw notFound("Job");
    await requireOwnWorkOf(tx, actor, row.delegationId, "job");
    await tx.jobRun.update({ where: { id: runId }, data: { spec: { ...runOf(row).spec, labels } }, select: { id: true } });
    await recordAuditEvent(tx, { type: "job.update", actor, owner, data: { runId, labels }, from });
  });
}
