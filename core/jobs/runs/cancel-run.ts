import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { pool } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL } from "../stages.ts";
import { namespaceOf, type RunOwner } from "./run.ts";

/**
 * Ends a run. One that no worker has is over at once; the worker that runs one is told, and has its command end (SIGTERM, then SIGKILL).
 * One that is over stays as it is: cancelling twice is no mistake.
 * @throws ServiceError `not_found`
 */
export async function cancelRun(actor: Actor, owner: RunOwner, id: string): Promise<void> {
  await requirePermission(actor, "job.run", namespaceOf(owner), { what: "Job" });
  if (!isId(id)) throw notFound("Job");
  const { rows } = await pool().query(
    `with wanted as (
       select id, claimed_until > now() as is_claimed, finished_at from job_run where id = $1 and owner_id = $2 for update
     ), cancelled as (
       update job_run run set cancel_requested_at = coalesce(run.cancel_requested_at, now()),
         stage = case when wanted.is_claimed then run.stage else 'CANCELED' end,
         finished_at = case when wanted.is_claimed then null else now() end,
         claim_id = case when wanted.is_claimed then run.claim_id end,
         message = case when wanted.is_claimed then run.message else 'It was cancelled before it started.' end
       from wanted where run.id = wanted.id and wanted.finished_at is null
     )
     select pg_notify($3, id), pg_notify($4, id) from wanted`,
    [id, owner.id, JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL],
  );
  if (rows.length === 0) throw notFound("Job");
}
