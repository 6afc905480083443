import { pool } from "../db.ts";
import type { LeasedTable } from "../postgres/leased-table.ts";
import type { SpaceStage } from "./stages.ts";

/** The runtime of a Space: its row of `space_runtime`. */
export type SpaceRuntime = {
  repoId: string;
  stage: SpaceStage;
  message: string | null;
  /** The commit that runs, or ran last. */
  commit: string | null;
  /** The address at which the worker that runs the Space accepts requests for it; null if none does. */
  address: string | null;
  restarts: number;
  generation: number;
  /** Null means the flavor's own sleep time. */
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

/**
 * The caller whose slot a Space takes: its owner or, for an organization's Space, the user who last started it, because anybody can create
 * many organizations.
 */
export const SPACE_PARTY = "coalesce(space_runtime.started_by_id, space_runtime.owner_id)";

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

/** Spaces that have to run: a worker claims each for as long as it runs, unless another caller's Space needs its slot (SpaceHost). */
export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: SPACE_PARTY, isShort: "true", isLeftOver: "false" },
};
