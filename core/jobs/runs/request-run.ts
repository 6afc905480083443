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
import { type Initiator, type RunOwner, runOf, type StoredSpec } from "./run.ts";

type Requested = { owner: JobNamespace; runId: string };

export async function requestRun(
  actor: Actor,
  namespace: string,
  { spec, secrets }: { spec: JobSpec; secrets: Record<string, string> },
  from: RequestOrigin,
): Promise<Requested> {
  requireOffered(spec, secrets);
  return request(actor, namespace, from, async (tx) => ({ spec, secrets, initiator: await initiatorOf(tx, actor) }));
}

/** A webhook's run is refused, because only a replay checks the rights again (S129). */
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
    const spec = await requireSpace(tx, actor, prepared.spec);
    const { kind, id } = owner;
    const delegationId = await recordDelegation(tx, actor);
    const runId = await createRun(tx, { ...prepared, spec, owner: { kind, id }, createdById: actorId(actor), delegationId });
    const { dockerImage, spaceId } = spec;
    // People write passwords into commands, so the command is left out.
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
  delegationId: string | null;
  initiator: Initiator;
  spec: StoredSpec;
  secrets: Readonly<Record<string, string>>;
  payload?: string;
  webhookId?: string;
  deliveryId?: string;
  deliveryTry?: number;
};

/** The caller must have checked `job.run`. */
export async function createRun(tx: Db, { owner, secrets, ...run }: NewRun): Promise<string> {
  const id = newOrderedId();
  await tx.jobRun.create({
    data: { ...run, id, ownerId: owner.id, ownerKind: owner.kind, secrets: sealJobSecrets(secrets), stage: "SCHEDULING" },
  });
  await tx.$executeRaw`select pg_notify(${JOB_CHANNEL}, '')`; // at commit
  return id;
}

const OPEN_RUNS_MAX_PER_OWNER = 200;

/** Takes no lock, so several callers may be told that there is room. */
export async function hasRoom(db: Db, ownerId: string): Promise<boolean> {
  return (await countOpen(db, ownerId)) < OPEN_RUNS_MAX_PER_OWNER;
}

export async function requireRoom(tx: Db, owner: { id: string; handle?: string }): Promise<void> {
  // The lock makes each call count the runs of the call before.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`runs ${owner.id}`}, 0))`;
  const open = await countOpen(tx, owner.id);
  if (open < OPEN_RUNS_MAX_PER_OWNER) return;
  const sentence = `${open} jobs${owner.handle ? ` of ${owner.handle}` : ""} are waiting or running. Cancel some, or wait until they finish.`;
  throw new ServiceError("rate_limited", sentence, { retryAfterSeconds: 60 });
}

const countOpen = (db: Db, ownerId: string): Promise<number> => db.jobRun.count({ where: { ownerId, finishedAt: null } });
