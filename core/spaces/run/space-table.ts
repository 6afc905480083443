import type { LeasedTable } from "../../leases/leased-table.ts";

/** Spaces that are to run: each is claimed by a worker for as long as it does. */
export const spaceTable: LeasedTable = { name: "space_runtime", key: "repo_id", isOpen: "is_wanted" };
