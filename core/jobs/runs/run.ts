import { jobSpecSchema } from "@keyhook/sdk";
import { z } from "zod";
import { describeDelegations, type MadeWith } from "../../access/delegation.ts";
import type { JobRun } from "../../generated/prisma/client.ts";
import type { RunnerName } from "../runners/runner.ts";
import { unsealJobSecrets } from "../secrets.ts";
import type { JobStage } from "../stages.ts";

export const initiatorTypes = ["user", "organization", "scheduled-job", "duplicated-job", "webhook"] as const;

export type Initiator = { type: (typeof initiatorTypes)[number]; id: string; name?: string };

export type RunOwner = { kind: "user" | "organization"; id: string };

/** `space` is the Space that `spaceId` named when the job was created. Later, the name may be another user's Space (S151). */
export const storedSpecSchema = jobSpecSchema.extend({
  space: z.object({ repoId: z.string(), ownerId: z.string() }).optional(),
});
export type StoredSpec = z.infer<typeof storedSpecSchema>;
export type SpaceOfJob = Pick<StoredSpec, "space"> & { spaceId: string };

export type Run = {
  id: string;
  owner: RunOwner;
  createdById: string | null;
  madeWith: MadeWith | null;
  initiator: Initiator;
  spec: StoredSpec;
  secretNames: string[];
  runner: RunnerName | null;
  stage: JobStage;
  message: string | null;
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
    spec: storedSpecSchema.parse(row.spec),
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

export function namespaceOf({ kind, id }: RunOwner): { ownerUserId: string | null; ownerOrgId: string | null } {
  return kind === "user" ? { ownerUserId: id, ownerOrgId: null } : { ownerUserId: null, ownerOrgId: id };
}
