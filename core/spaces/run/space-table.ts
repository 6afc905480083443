import type { LeasedTable } from "../../leases/leased-table.ts";

/**
 * The caller whose slot a Space takes: its owner. An organization's Space counts against the account that created or last restarted it,
 * because one user may have a great many organizations.
 */
export const SPACE_PARTY = "coalesce(space_runtime.started_by_id, space_runtime.owner_id)";

/** Spaces that have to run: a worker claims each for as long as it runs, unless another caller's Space needs its slot (SpaceHost). */
export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: SPACE_PARTY, isShort: "true", isLeftOver: "false" },
};
