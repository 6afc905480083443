import { type JobSpec, jobSpecSchema } from "@keyhook/sdk";
import { describeDelegations, type MadeWith } from "../../access/delegation.ts";
import type { JobRun } from "../../generated/prisma/client.ts";
import type { RunnerName } from "../runners/runner.ts";
import { unsealJobSecrets } from "../secrets.ts";
import type { JobStage } from "../stages.ts";

export const initiatorTypes = ["user", "organization", "scheduled-job", "duplicated-job", "webhook"] as const;

/** Who or what started a run; `name` as it was then. */
export type Initiator = { type: (typeof initiatorTypes)[number]; id: string; name?: string };

export type RunOwner = { kind: "user" | "organization"; id: string };

/** One execution, without its secrets and its payload. */
export type Run = {
  id: string;
  owner: RunOwner;
  createdById: string | null;
  /** The app or token that started it; null if a user did so on the pages. */
  madeWith: MadeWith | null;
  initiator: Initiator;
  spec: JobSpec;
  /** Names of its secrets; their values are never shown again. */
  secretNames: string[];
  runner: RunnerName | null;
  stage: JobStage;
  /** Why it is in this stage, as a sentence for its owner. */
  message: string | null;
  /** Null while it is not over, if it was cancelled, and if its runner could not run the command to its end. */
  exitCode: number | null;
  webhookId: string | null;
  deliveryId: string | null;
  logBytes: number;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  cancelRequestedAt: Date | null;
};

type Row = Omit<JobRun, "secrets" | "payload">;

/** Runs as users see them, with the apps that started them, in at most one statement. */
export async function toRuns(rows: readonly (Row & { secrets?: Uint8Array | null })[]): Promise<Run[]> {
  const madeWith = await describeDelegations(rows.map(({ delegationId }) => delegationId));
  return rows.map((row) => ({
    ...runOf(row, row.secrets ? Object.keys(unsealJobSecrets(row.secrets)) : []),
    madeWith: (row.delegationId && madeWith.get(row.delegationId)) || null,
  }));
}

export function runOf(row: Row, secretNames: string[] = []): Run {
  return {
    id: row.id,
    owner: { kind: row.ownerKind as RunOwner["kind"], id: row.ownerId },
    createdById: row.createdById,
    madeWith: null,
    initiator: row.initiator as Initiator,
    spec: jobSpecSchema.parse(row.spec),
    secretNames,
    runner: row.runner as RunnerName | null,
    stage: row.stage as JobStage,
    message: row.message,
    exitCode: row.exitCode,
    webhookId: row.webhookId,
    deliveryId: row.deliveryId,
    logBytes: row.logBytes,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    cancelRequestedAt: row.cancelRequestedAt,
  };
}

/** The owner in the form that the access rules use. */
export function namespaceOf({ kind, id }: RunOwner): { ownerUserId: string | null; ownerOrgId: string | null } {
  return kind === "user" ? { ownerUserId: id, ownerOrgId: null } : { ownerUserId: null, ownerOrgId: id };
}
