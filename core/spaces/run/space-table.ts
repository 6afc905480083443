import type { LeasedTable } from "../../leases/leased-table.ts";

/** Spaces that are to run: each is claimed by a worker for as long as it does, unless another owner's needs its place (SpaceHost). */
export const spaceTable: LeasedTable = {
  name: "space_runtime",
  key: "repo_id",
  isOpen: "is_wanted",
  share: { party: "owner_id", isShort: "true", isLeftOver: "false" },
};
