import type { LeasedTable } from "../../leases/leased-table.ts";
import type { RunOwner } from "./run.ts";

export const jobTable: LeasedTable = { name: "job_run", isOpen: "finished_at is null" };

/** A claimed run, as the table has it. */
export type ClaimedRun = {
  id: string;
  owner_id: string;
  owner_kind: RunOwner["kind"];
  created_by_id: string | null;
  delegation_id: string | null;
  spec: unknown;
  secrets: Buffer | null;
  stage: string;
  webhook_id: string | null;
  delivery_id: string | null;
  payload: string | null;
  cancel_requested_at: Date | null;
};
