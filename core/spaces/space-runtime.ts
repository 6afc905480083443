import { pool } from "../db.ts";
import type { LeasedTable } from "../postgres/leased-table.ts";
import type { SpaceStage } from "./stages.ts";

export type SpaceRuntime = {
  repoId: string;
  stage: SpaceStage;
  message: string | null;
  /** The commit that runs, or ran last. */
  commit: string | null;
  /** Where the worker accepts requests for the Space. Null if no worker does. */
  address: string | null;
  restarts: number;
  generation: number;
  /** Null means the flavor's sleep time. */
  sleepSeconds: number | null;
  receiverGeneration: number;
  /** Increased whenever anybody loses access, which invalidates visits. */
  visitorGeneration: number;
  lastRequestAt: Date | null;
  startedAt: Date | null;
  /** A visitor woke the Space, and it has not run since. */
  isAwaited: boolean;
  party: string;
};

/** For an organization's Space, the user who last started it, because anybody can create many organizations. */
export const SPACE_PARTY = "coalesce(space_runtime.started_by_id, space_runtime.owner_id)";

export const COLUMNS = `repo_id AS "repoId", stage, message, commit, restarts, generation, sleep_seconds AS "sleepSeconds",
  receiver_generation AS "receiverGeneration", visitor_generation AS "visitorGeneration", last_request_at AS "lastRequestAt", started_at AS "startedAt",
  awaited_at IS NOT NULL AS "isAwaited", ${SPACE_PARTY} AS party,
  CASE WHEN claimed_until > now() THEN address END AS address`;

/** Undefined for a Space without a commit. Without a claim, there is no address (S122). */
export async function readSpaceRuntime(repoId: string): Promise<SpaceRuntime | undefined> {
  const { rows } = await pool().query<SpaceRuntime>({
    name: "read-space-runtime",
    text: `SELECT ${COLUMNS} FROM space_runtime WHERE repo_id = $1`,
    values: [repoId],
  });
  return rows[0];
}

/** A claim lasts as long as the Space runs. */
export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: SPACE_PARTY, isShort: "true", isLeftOver: "false" },
};
