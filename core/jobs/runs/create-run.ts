import type { JobSpec } from "@keyhook/sdk";
import type { Db } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { sealJobSecrets } from "../secrets.ts";
import { JOB_CHANNEL } from "../stages.ts";
import type { Initiator, RunOwner } from "./run.ts";

export type NewRun = {
  owner: RunOwner;
  createdById: string | null;
  /** With whose rights it runs, where a token had it run (core/access/delegation.ts). */
  delegationId: string | null;
  initiator: Initiator;
  spec: JobSpec;
  secrets: Readonly<Record<string, string>>;
  /** Of a webhook's run: the body of its delivery, and which try of which delivery it is. */
  payload?: string;
  webhookId?: string;
  deliveryId?: string;
  deliveryTry?: number;
};

/**
 * Puts a run into the queue; a worker starts it after the commit. Whoever calls has asked `job.run`.
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
