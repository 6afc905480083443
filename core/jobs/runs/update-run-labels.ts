import type { JobSpec } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requireOwnWorkOf } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findJobNamespace, requireJobs } from "../find-job-namespace.ts";
import { runOf } from "./run.ts";

/** Replaces the labels of a run. @throws ServiceError `not_found`, `insufficient_scope`, `forbidden` (another app's) */
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
    await recordAuditEvent(tx, {
      type: "job.update",
      actorId: actorId(actor),
      orgId: owner.kind === "organization" ? owner.id : null,
      clientId: clientIdOf(actor),
      data: { runId, labels },
      from,
    });
  });
}
