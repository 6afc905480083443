import type { LeasedTable } from "../../leases/leased-table.ts";

/**
 * Whose place a Space takes: its owner's. An organization's Space counts against the account that made or last restarted it, because
 * somebody may have a great many organizations.
 */
export const SPACE_PARTY = "coalesce(space_runtime.started_by_id, space_runtime.owner_id)";

/** Spaces that are to run: each is claimed by a worker for as long as it does, unless another party's needs its place (SpaceHost). */
export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: SPACE_PARTY, isShort: "true", isLeftOver: "false" },
};
