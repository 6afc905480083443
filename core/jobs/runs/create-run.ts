import type { JobSpec } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { sealJobSecrets } from "../secrets.ts";
import { JOB_CHANNEL } from "../stages.ts";
import type { Initiator, RunOwner } from "./run.ts";

export type NewRun = {
  owner: RunOwner;
  createdById: string | null;
  /** The delegation whose rights it has, if a token started it (core/access/delegation.ts). */
  delegationId: string | null;
  initiator: Initiator;
  spec: JobSpec;
  secrets: Readonly<Record<string, string>>;
  /** For a webhook's run: the body of its delivery, the delivery, and its try. */
  payload?: string;
  webhookId?: string;
  deliveryId?: string;
  deliveryTry?: number;
};

/**
 * Queues a run; a worker starts it after the commit. The caller has checked `job.run`.
 * @returns its id
 */
export async function createRun(tx: Db, { owner, secrets, ...run }: NewRun): Promise<string> {
  const id = newOrderedId();
  await tx.jobRun.create({
    data: { ...run, id, ownerId: owner.id, ownerKind: owner.kind, secrets: sealJobSecrets(secrets), stage: "SCHEDULING" },
  });
  await tx.$executeRaw`select pg_notify(${JOB_CHANNEL}, '')`; // at commit
  return id;
}
