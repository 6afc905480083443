import { pool } from "../../db.ts";
import { SPACE_CHANNEL, type SpaceStage } from "../stages.ts";

export type Run = { repoId: string; claimId: string; generation: number };

export async function recordStage(
  { repoId, claimId, generation }: Run,
  { stage, commit, address }: { stage: SpaceStage; commit?: string; address?: string },
): Promise<boolean> {
  const { rowCount } = await pool().query(
    `WITH run AS (
       UPDATE space_runtime SET stage = $4, message = NULL, address = $5, commit = coalesce($6, commit), updated_at = now(),
         started_at = CASE WHEN $4 = 'RUNNING' THEN now() ELSE started_at END,
         -- Once it runs, it no longer depends on a visitor who waits for it.
         awaited_at = CASE WHEN $4 = 'RUNNING' THEN NULL ELSE awaited_at END,
         -- Its idle time begins now, not with the last request to its previous run.
         last_request_at = CASE WHEN $4 = 'RUNNING' THEN greatest(last_request_at, now()) ELSE last_request_at END
       WHERE repo_id = $1 AND claim_id = $2 AND generation = $3 AND is_wanted RETURNING repo_id
     ) SELECT pg_notify($7, repo_id) FROM run`,
    [repoId, claimId, generation, stage, address ?? null, commit ?? null, SPACE_CHANNEL],
  );
  return rowCount === 1;
}

/** If a worker is lost after this time, the Space is not the cause. */
const LOST_EARLY_SECONDS = 120;

/** Counts lost workers, because a Space that kills its worker must not be passed on forever. */
export async function countLosses({ repoId, claimId }: Run): Promise<number> {
  const { rows } = await pool().query<{ attempts: number }>(
    `UPDATE space_runtime SET attempts = CASE WHEN updated_at < now() - make_interval(secs => $3) THEN 1 ELSE attempts END
      WHERE repo_id = $1 AND claim_id = $2 RETURNING attempts`,
    [repoId, claimId, LOST_EARLY_SECONDS],
  );
  return Math.max(0, (rows[0]?.attempts ?? 1) - 1);
}

export type End =
  | { kind: "rest"; stage: SpaceStage; message?: string | undefined }
  | { kind: "again"; message?: string | undefined; restarts?: number | undefined; delaySeconds: number };

export async function recordEnd({ repoId, claimId, generation }: Run, end: End): Promise<void> {
  const isOver = end.kind === "rest";
  await pool().query(
    `WITH run AS (
       UPDATE space_runtime SET claim_id = NULL, claimed_until = NULL, address = NULL, attempts = 0, updated_at = now(),
         stage = CASE WHEN generation = $3 AND is_wanted THEN $4 ELSE stage END,
         message = CASE WHEN generation = $3 AND is_wanted THEN $5 ELSE message END,
         restarts = CASE WHEN generation = $3 AND is_wanted THEN coalesce($6, restarts) ELSE restarts END,
         due_at = CASE WHEN generation = $3 AND is_wanted THEN now() + make_interval(secs => $7) ELSE due_at END,
         is_wanted = is_wanted AND (generation <> $3 OR NOT $8)
       WHERE repo_id = $1 AND claim_id = $2 RETURNING repo_id
     ) SELECT pg_notify($9, repo_id) FROM run`,
    [
      ...[repoId, claimId, generation, isOver ? end.stage : "APP_STARTING", end.message ?? null],
      ...[isOver ? null : (end.restarts ?? null), isOver ? 0 : end.delaySeconds, isOver, SPACE_CHANNEL],
    ],
  );
}
