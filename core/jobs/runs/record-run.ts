import { setTimeout as sleep } from "node:timers/promises";
import { mayAct } from "../../access/delegation.ts";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { isDatabaseDown, pool } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { LEASE_SECONDS } from "../../leases/leased-table.ts";
import { log } from "../../log.ts";
import type { RunnerName } from "../runners/runner.ts";
import { JOB_LOG_CHANNEL, type JobStage } from "../stages.ts";

/** How a run ended. `exitCode` is null if its command did not end by itself: it could not be run, or was cancelled. */
export type Outcome = {
  stage: Extract<JobStage, "COMPLETED" | "CANCELED" | "ERROR">;
  exitCode: number | null;
  message: string | null;
};

/**
 * The user who started an organization's run on the pages may not do so any more: they have left, were disabled, or have a lesser role. A
 * webhook and its runs belong to the organization, whoever created it.
 */
const STARTER_IS_GONE = `(job_run.owner_kind = 'organization' and job_run.delegation_id is null and job_run.webhook_id is null
  and not exists (select 1 from member_standing m join "user" u on u.id = m.user_id and u.disabled_at is null
    where m.org_id = job_run.owner_id and m.user_id = job_run.created_by_id and ${membersWhoMay("job.run", null, { isPresent: false }).text}))`;

/**
 * SQL on a row of `job_run`: it may not run any more, because its owner is a user who was disabled (S112), because its starter may not
 * start it any more, or because the grant under which it was started has ended.
 */
export const MAY_NOT_RUN = `(exists (select 1 from "user" u where u.id = job_run.owner_id and u.disabled_at is not null)
  or ${STARTER_IS_GONE}
  or not ${mayAct("job.run", Prisma.sql`job_run.delegation_id`, Prisma.sql`job_run.owner_id`).text})`;

/**
 * @returns whether the claim still holds and the run may still begin: it was not cancelled meanwhile, its owner not disabled, its grant not
 * ended
 */
export async function recordStart(id: string, claimId: string, runner: RunnerName | null): Promise<boolean> {
  const { rowCount } = await pool().query(
    `with run as (
       update job_run set stage = 'RUNNING', started_at = now(), runner = $3
       where id = $1 and claim_id = $2 and finished_at is null and cancel_requested_at is null
         and not ${MAY_NOT_RUN} returning id
     )
     select pg_notify($4, id) from run`,
    [id, claimId, runner, JOB_LOG_CHANNEL],
  );
  return rowCount === 1;
}

const RETRY_MS = 1_000;

/**
 * Ends a run under its claim. Waits for an unavailable database as long as the claim can last; after that another worker ends the run.
 * @returns whether the claim still held
 */
export async function recordEnd(id: string, claimId: string, { stage, exitCode, message }: Outcome): Promise<boolean> {
  for (let left = LEASE_SECONDS; ; left--) {
    try {
      const { rowCount } = await pool().query(
        `with run as (
           update job_run set stage = $3, exit_code = $4, message = $5, finished_at = now(), claim_id = null, claimed_until = null
           where id = $1 and claim_id = $2 and finished_at is null returning id
         )
         select pg_notify($6, id) from run`,
        [id, claimId, stage, exitCode, message, JOB_LOG_CHANNEL],
      );
      return rowCount === 1;
    } catch (error) {
      if (left === 0 || !isDatabaseDown(error)) throw error;
      log().warn({ err: error, runId: id }, "cannot record a run's end; trying again");
      await sleep(RETRY_MS);
    }
  }
}
