import { type JobSpec, jobSecretsSchema, jobSpecSchema, type webhookJobSchema } from "@keyhook/sdk";
import type { z } from "zod";
import { type Actor, actorId } from "../../access/actor.ts";
import { requireOwnWorkOf } from "../../access/delegation.ts";
import { may, requirePermission } from "../../access/may.ts";
import { seal } from "../../crypto/seal.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { requireImage } from "../../jobs/image-reference.ts";
import { requireSpace } from "../../jobs/runs/require-offered.ts";
import { type StoredSpec, storedSpecSchema } from "../../jobs/runs/run.ts";
import { isOwnRelay, relayTargetOf } from "../../relay/relay.ts";
import { parseWebhookUrl } from "./parse-webhook.ts";
import { type WebhookOwner, webhookNamespace } from "./webhook.ts";

export type TargetInput = {
  url?: string | null;
  job?: z.input<typeof webhookJobSchema> | null;
  jobSourceId?: string | null;
};

export type TargetColumns = {
  url: string | null;
  job: StoredSpec | typeof Prisma.DbNull;
  jobSecrets: Uint8Array<ArrayBuffer> | null;
  jobSourceId: string | null;
};

export const hasTarget = ({ url, job, jobSourceId }: TargetInput): boolean => url != null || job != null || jobSourceId != null;

/** The job runs on the owner's account, so the actor needs the right to run jobs there. */
export async function readTarget(tx: Db, actor: Actor, owner: WebhookOwner, input: TargetInput): Promise<TargetColumns> {
  const { url, job, jobSourceId } = input;
  const given = [url, job, jobSourceId].filter((one) => one != null).length;
  if (given !== 1) {
    const sentence = given === 0 ? "Send either a url or a job." : "Send either a url or a job, not both.";
    throw new ServiceError("invalid_request", sentence, { field: "url" });
  }
  if (url != null) {
    const parsed = parseWebhookUrl(url);
    await requireOwnRelay(tx, actor, owner, parsed);
    return { url: parsed, job: Prisma.DbNull, jobSecrets: null, jobSourceId: null };
  }
  await requirePermission(actor, "job.run", webhookNamespace(owner), { what: "Account", tx });
  const target = job != null ? inlineJob(job) : await copiedJob(tx, actor, owner, jobSourceId as string);
  requireSmall(target);
  return { ...target, job: await requireSpace(tx, actor, target.job as StoredSpec) };
}

/** A list contains all webhooks of an owner with their jobs, so jobs must be small (S137). */
const JOB_MAX_BYTES = 64 * 1024;

function requireSmall({ job, jobSecrets, jobSourceId }: TargetColumns): void {
  const size = Buffer.byteLength(JSON.stringify(job)) + (jobSecrets?.length ?? 0);
  if (size <= JOB_MAX_BYTES) return;
  const sentence = `This job has ${size.toLocaleString("en")} bytes with its environment and secrets, more than the ${JOB_MAX_BYTES.toLocaleString("en")} that a webhook allows. Put large data into a Space's files.`;
  throw new ServiceError("invalid_request", sentence, { field: jobSourceId === null ? "job" : "jobSourceId" });
}

function inlineJob({ secrets, ...input }: NonNullable<TargetInput["job"]>): TargetColumns {
  const spec = jobSpecSchema.safeParse(input);
  const values = jobSecretsSchema.safeParse(secrets ?? {});
  const issue = spec.error?.issues[0] ?? values.error?.issues[0];
  if (!spec.success || !values.success) {
    const field = ["job", ...(issue?.path ?? [])].join(".");
    throw new ServiceError("invalid_request", `${field}: ${issue?.message ?? "not understood"}.`, { field: "job" });
  }
  requireRunnable(spec.data);
  const isEmpty = Object.keys(values.data).length === 0;
  const jobSecrets = isEmpty ? null : seal("job secrets", JSON.stringify(values.data));
  return { url: null, job: spec.data, jobSecrets, jobSourceId: null };
}

function requireRunnable({ dockerImage, spaceId, command }: JobSpec): void {
  const refuse = (sentence: string) => new ServiceError("invalid_request", sentence, { field: "job" });
  if ((dockerImage === undefined) === (spaceId === undefined)) throw refuse("job: send either dockerImage or spaceId.");
  if (dockerImage !== undefined) requireImage(dockerImage, "job");
  if (command.length === 0) throw refuse("job.command: enter the command to run.");
}

type RunRow = {
  ownerId: string;
  ownerKind: "user" | "organization";
  delegationId: string | null;
  spec: JobSpec;
  secrets: Uint8Array | null;
};

/** Anybody who may rerun the run under the same owner gets its secrets too. */
async function copiedJob(tx: Db, actor: Actor, owner: WebhookOwner, runId: string): Promise<TargetColumns> {
  const [run] = isId(runId)
    ? await tx.$queryRaw<
        RunRow[]
      >`SELECT owner_id AS "ownerId", owner_kind AS "ownerKind", delegation_id AS "delegationId", spec, secrets FROM job_run WHERE id = ${runId}`
    : [];
  const isReadable =
    run !== undefined && (await may(actor, "job.read", webhookNamespace({ kind: run.ownerKind, id: run.ownerId }), tx));
  if (!isReadable)
    throw new ServiceError("invalid_request", "There is no job with this ID that you can see.", { field: "jobSourceId" });
  await requireOwnWorkOf(tx, actor, run.delegationId, "job");
  // Under another owner, the secrets would stay with a user who may have left the run's owner.
  if (run.secrets && run.ownerId !== owner.id) {
    const sentence =
      "This job has secrets, which stay with its owner. Create the webhook for that owner, or send the job with its secrets.";
    throw new ServiceError("invalid_request", sentence, { field: "jobSourceId" });
  }
  return {
    url: null,
    job: storedSpecSchema.parse(run.spec),
    jobSecrets: run.secrets && Uint8Array.from(run.secrets),
    jobSourceId: runId,
  };
}

/** Events must not go to a stranger whose URL somebody pasted. */
async function requireOwnRelay(tx: Db, actor: Actor, owner: WebhookOwner, url: string): Promise<void> {
  const relay = relayTargetOf(url);
  if (!relay) return;
  const userId = owner.kind === "user" ? owner.id : actorId(actor);
  if (userId !== null && (await isOwnRelay(tx, relay.token, userId))) return;
  const sentence =
    "This is not the URL of one of your relays, or the relay has expired. Open the relay, and use its current URL.";
  throw new ServiceError("invalid_request", sentence, { field: "url" });
}
