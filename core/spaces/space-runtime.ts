import { pool } from "../db.ts";
import { SPACE_PARTY } from "./run/space-table.ts";
import type { SpaceStage } from "./stages.ts";

/** The runtime of a Space: its row of `space_runtime`. */
export type SpaceRuntime = {
  repoId: string;
  stage: SpaceStage;
  message: string | null;
  /** The commit that runs, or ran last. */
  commit: string | null;
  /** Where the worker that runs it accepts requests for it; null if none does. */
  address: string | null;
  restarts: number;
  generation: number;
  /** Null: the flavor's own. */
  sleepSeconds: number | null;
  receiverGeneration: number;
  /** Counts invalidations of visits: increased whenever anybody loses their access. */
  visitorGeneration: number;
  lastRequestAt: Date | null;
  startedAt: Date | null;
  /** A visitor woke it, and it has not run since. */
  isAwaited: boolean;
  /** The caller whose slot it takes. */
  party: string;
};

export const COLUMNS = `repo_id AS "repoId", stage, message, commit, restarts, generation, sleep_seconds AS "sleepSeconds",
  receiver_generation AS "receiverGeneration", visitor_generation AS "visitorGeneration", last_request_at AS "lastRequestAt", started_at AS "startedAt",
  awaited_at IS NOT NULL AS "isAwaited", ${SPACE_PARTY} AS party,
  CASE WHEN claimed_until > now() THEN address END AS address`;

/** Undefined for a Space without a commit. The address is omitted if its worker no longer holds the claim (S122). */
export async function readSpaceRuntime(repoId: string): Promise<SpaceRuntime | undefined> {
  const { rows } = await pool().query<SpaceRuntime>({
    name: "read-space-runtime",
    text: `SELECT ${COLUMNS} FROM space_runtime WHERE repo_id = $1`,
    values: [repoId],
  });
  return rows[0];
}
