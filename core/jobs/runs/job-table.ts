import { JOB_TIMEOUT_SECONDS } from "@keyhook/sdk";
import type { LeasedTable } from "../../postgres/leased-table.ts";
import type { RunOwner } from "./run.ts";

/** A run counts against its creator, even in an organization. Long runs never get the last of several slots (decision 055). */
export const jobTable: LeasedTable = {
  name: "job_run",
  isOpen: "finished_at is null",
  share: {
    party: "coalesce(created_by_id, owner_id)",
    isShort: `coalesce((spec->>'timeoutSeconds')::int, ${JOB_TIMEOUT_SECONDS}) <= ${JOB_TIMEOUT_SECONDS}`,
    isLeftOver: "stage = 'RUNNING'",
  },
};

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

export const partyOf = ({ created_by_id, owner_id }: ClaimedRun): string => created_by_id ?? owner_id;
