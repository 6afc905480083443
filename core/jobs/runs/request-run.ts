import type { JobSpec } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { recordDelegation, requireOwnWorkOf } from "../../access/delegation.ts";
import { lockOwner } from "../../accounts/handles/find-owner.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { isId, newOrderedId } from "../../ids.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { sealJobSecrets, unsealJobSecrets } from "../secrets.ts";
import { JOB_CHANNEL } from "../stages.ts";
import { requireOffered, requireSpace } from "./require-offered.ts";
import { type Initiator, type RunOwner, runOf } from "./run.ts";

type Requested = { owner: JobNamespace; runId: string };

/**
 * Runs a job on the account of a user or an organization.
 * @throws ServiceError `invalid_request`, `not_found` (the namespace, the Space), `insufficient_scope`, `rate_limited` (too many wait)
 */
export async function requestRun(
  actor: Actor,
  namespace: string,
  { spec, secrets }: { spec: JobSpec; secrets: Record<string, string> },
  from: RequestOrigin,
): Promise<Requested> {
  requireOffered(spec, secrets);
  return request(actor, namespace, from, async (tx) => ({ spec, secrets, initiator: await initiatorOf(tx, actor) }));
}

/**
 * Runs a job again with its secrets, which the caller need not know. A webhook's run is not repeated: a replay of its delivery checks again
 * whether the webhook may receive the event (S129).
 * @throws ServiceError as `requestRun`, `not_found` (the run), `forbidden` (another app's run), and `conflict` (a webhook's run)
 */
export async function duplicateRun(actor: Actor, namespace: string, runId: string, from: RequestOrigin): Promise<Requested> {
  return request(actor, namespace, from, async (tx, owner) => {
    const row = isId(runId) ? await tx.jobRun.findFirst({ where: { id: runId, ownerId: owner.id } }) : null;
    if (!row) throw notFound("Job");
    if (row.webhookId !== null) throw conflict("A job that a webhook started cannot be run again. Replay its delivery instead.");
    await requireOwnWorkOf(tx, actor, row.delegationId, "job");
    const { spec } = runOf(row);
    requireOffered(spec);
    return { spec, secrets: unsealJobSecrets(row.secrets), initiator: { type: "duplicated-job", id: runId } };
  });
}

async function request(
  actor: Actor,
  namespace: string,
  from: RequestOrigin,
  prepare: (tx: Db, owner: JobNamespace) => Promise<Pick<NewRun, "spec" | "secrets" | "initiator">>,
): Promise<Requested> {
  const owner = await findJobNamespace(actor, "job.run", namespace);
  return inTransaction(async (tx) => {
    if (!(await lockOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    await requireRoom(tx, owner);
    const prepared = await prepare(tx, owner);
    await requireSpace(tx, actor, prepared.spec);
    const { kind, id } = owner;
    const delegationId = await recordDelegation(tx, actor);
    const runId = await createRun(tx, { ...prepared, owner: { kind, id }, createdById: actorId(actor), delegationId });
    const { dockerImage, spaceId } = prepared.spec;
    // Without the command: people write passwords into commands.
    const data = { runId, image: dockerImage ?? spaceId ?? "" };
    await recordAuditEvent(tx, { type: "job.run", actor, owner, data, from });
    return { owner, runId };
  });
}

async function initiatorOf(tx: Db, actor: Actor): Promise<Initiator> {
  const id = actorId(actor);
  const user = id && (await tx.user.findUnique({ where: { id }, select: { username: true } }));
  if (!id || !user) throw notFound("Namespace");
  return { type: "user", id, name: user.username };
}

export type NewRun = {
  owner: RunOwner;
  createdById: string | null;
  /** The delegation whose rights it has, if a token started it (core/access/delegation.ts). */
  delegationId: string | null;
  initiator: Initiator;
  spec: JobSpec;
  secrets: Readonly<Record<string, string>>;
  /** For a webhook's run: the body of its delivery, the delivery, and the number of its attempt. */
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

/** The maximum number of an owner's waiting and running runs, from all sources together. */
const OPEN_RUNS_MAX_PER_OWNER = 200;

/** Whether an owner may have another run. Without a lock: several concurrent callers may each be told that there is room. */
export async function hasRoom(db: Db, ownerId: string): Promise<boolean> {
  return (await countOpen(db, ownerId)) < OPEN_RUNS_MAX_PER_OWNER;
}

/** Requires that the owner may have another run, in the transaction that creates it. @throws ServiceError `rate_limited` */
export async function requireRoom(tx: Db, owner: { id: string; handle?: string }): Promise<void> {
  // One call after another, so that each counts the runs of the previous one.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`runs ${owner.id}`}, 0))`;
  const open = await countOpen(tx, owner.id);
  if (open < OPEN_RUNS_MAX_PER_OWNER) return;
  const sentence = `${open} jobs${owner.handle ? ` of ${owner.handle}` : ""} are waiting or running. Cancel some, or wait until they finish.`;
  throw new ServiceError("rate_limited", sentence, { retryAfterSeconds: 60 });
}

const countOpen = (db: Db, ownerId: string): Promise<number> => db.jobRun.count({ where: { ownerId, finishedAt: null } });
