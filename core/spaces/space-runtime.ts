import { pool } from "../db.ts";
import type { LeasedTable } from "../postgres/leased-table.ts";
import type { SpaceStage } from "./stages.ts";

export type SpaceRuntime = {
  repoId: string;
  stage: SpaceStage;
  message: string | null;
  commit: string | null;
  /** The address at which a worker accepts requests for the Space. Null if no worker does. */
  address: string | null;
  restarts: number;
  generation: number;
  sleepSeconds: number | null;
  receiverGeneration: number;
  /** Increases whenever anybody loses access, which makes all visits invalid. */
  visitorGeneration: number;
  lastRequestAt: Date | null;
  startedAt: Date | null;
  isAwaited: boolean;
  party: string;
};

/** An organization's Space counts against the user who last started the Space, because anybody can create many organizations. */
export const SPACE_PARTY = "coalesce(space_runtime.started_by_id, space_runtime.owner_id)";

export const COLUMNS = `repo_id AS "repoId", stage, message, commit, restarts, generation, sleep_seconds AS "sleepSeconds",
  receiver_generation AS "receiverGeneration", visitor_generation AS "visitorGeneration", last_request_at AS "lastRequestAt", started_at AS "startedAt",
  awaited_at IS NOT NULL AS "isAwaited", ${SPACE_PARTY} AS party,
  CASE WHEN claimed_until > now() THEN address END AS address`;

/**
 * Without a claim, there is no address (S122).
 * @returns undefined if the Space has no commit
 */
export async function readSpaceRuntime(repoId: string): Promise<SpaceRuntime | undefined> {
  const { rows } = await pool().query<SpaceRuntime>({
    name: "read-space-runtime",
    text: `SELECT ${COLUMNS} FROM space_runtime WHERE repo_id = $1`,
    values: [repoId],
  });
  return rows[0];
}

export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: SPACE_PARTY, isShort: "true", isLeftOver: "false" },
};
