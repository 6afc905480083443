import { setTimeout as sleep } from "node:timers/promises";
import { mayAct } from "../../access/delegation.ts";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { isDatabaseDown } from "../../database-errors.ts";
import { pool } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { log } from "../../log.ts";
import { listen } from "../../notifications.ts";
import { LEASE_SECONDS } from "../../postgres/leased-table.ts";
import type { RunnerName } from "../runners/runner.ts";
import { JOB_CANCEL_CHANNEL, JOB_LOG_CHANNEL, type JobStage } from "../stages.ts";

/** `exitCode` is null if the run was cancelled, or could not run to its end. */
export type Outcome = {
  stage: Extract<JobStage, "COMPLETED" | "CANCELED" | "ERROR">;
  exitCode: number | null;
  message: string | null;
};

/** Does not apply to the runs of webhooks, which belong to the organization even after their creator has left. */
const STARTER_IS_GONE = `(job_run.owner_kind = 'organization' and job_run.delegation_id is null and job_run.webhook_id is null
  and not exists (select 1 from member_standing m join "user" u on u.id = m.user_id and u.disabled_at is null
    where m.org_id = job_run.owner_id and m.user_id = job_run.created_by_id and ${membersWhoMay("job.run", null, { isPresent: false }).text}))`;

/** The owner was disabled (S112), the starter may no longer start the run, or the delegation has ended. */
const MAY_NOT_RUN = `(exists (select 1 from "user" u where u.id = job_run.owner_id and u.disabled_at is not null)
  or ${STARTER_IS_GONE}
  or not ${mayAct("job.run", Prisma.sql`job_run.delegation_id`, Prisma.sql`job_run.owner_id`).text})`;

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
 * Waits for the database as long as the claim can last.
 * @returns whether the worker still had the claim
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
      log().warn({ err: error, runId: id }, "cannot record a job's end; trying again");
      await sleep(RETRY_MS);
    }
  }
}

type Watched = {
  id: string;
  claimId: string;
  onCancel(): void;
  onLost(): void;
};

const CHECK_MS = 2_000;
/** If the database does not respond for this long, another worker may claim the run. */
const FENCE_MS = (LEASE_SECONDS - 5) * 1_000;

const watched = new Map<string, Watched & { heldAt: number }>();
let timer: NodeJS.Timeout | undefined;
let checking: Promise<void> | undefined;

export function watchClaim(run: Watched): () => void {
  watched.set(run.id, { ...run, heldAt: performance.now() });
  void listen(JOB_CANCEL_CHANNEL, check);
  timer ??= setInterval(() => void check(), CHECK_MS);
  // The run may have been cancelled just before.
  void check();
  return () => {
    watched.delete(run.id);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function check(): Promise<void> {
  checking ??= checkAll().finally(() => {
    checking = undefined;
  });
  return checking;
}

async function checkAll(): Promise<void> {
  const asked = [...watched.values()];
  if (asked.length === 0) return;
  const askedAt = performance.now();
  try {
    const { rows } = await pool().query<{ id: string; claim_id: string | null; is_cancelled: boolean }>(
      `select id, claim_id, cancel_requested_at is not null or ${MAY_NOT_RUN} as is_cancelled from job_run where id = any ($1)`,
      [asked.map(({ id }) => id)],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const run of asked) {
      const row = found.get(run.id);
      if (row?.claim_id !== run.claimId) run.onLost();
      else if (row.is_cancelled) run.onCancel();
      run.heldAt = askedAt;
    }
  } catch (error) {
    log().warn({ err: error }, "cannot supervise the running jobs");
    for (const run of asked) if (performance.now() - run.heldAt > FENCE_MS) run.onLost();
  }
}
