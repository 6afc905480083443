import type { JobSpec } from "@keyhook/sdk";
import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { recordDelegation, requireOwnWorkOf } from "../../access/delegation.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, inTransaction } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { findJobNamespace, type JobNamespace, requireJobs } from "../find-job-namespace.ts";
import { lockRunOwner } from "../lock-run-owner.ts";
import { unsealJobSecrets } from "../secrets.ts";
import { createRun, type NewRun } from "./create-run.ts";
import { requireOffered, requireSpace } from "./require-offered.ts";
import { requireRoom } from "./require-room.ts";
import { type Initiator, runOf } from "./run.ts";

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
 * Runs a job again with its secrets, which the caller need not know. A webhook's run is not repeated: its delivery is replayed, which
 * checks anew whether it may receive the event (S129).
 * @throws ServiceError as `requestRun`, and `not_found` (the run)
 */
export async function duplicateRun(actor: Actor, namespace: string, runId: string, from: RequestOrigin): Promise<Requested> {
  return request(actor, namespace, from, async (tx, owner) => {
    const row = isId(runId) ? await tx.jobRun.findFirst({ where: { id: runId, ownerId: owner.id } }) : null;
    if (!row) throw notFound("Job");
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
    if (!(await lockRunOwner(tx, owner))) throw notFound("Namespace");
    await requireJobs(actor, "job.run", owner, tx);
    await requireRoom(tx, owner);
    const prepared = await prepare(tx, owner);
    await requireSpace(tx, actor, prepared.spec);
    const { kind, id } = owner;
    const delegationId = await recordDelegation(tx, actor);
    const runId = await createRun(tx, { ...prepared, owner: { kind, id }, createdById: actorId(actor), delegationId });
    const { dockerImage, spaceId } = prepared.spec;
    await recordAuditEvent(tx, {
      type: "job.run",
      actorId: actorId(actor),
      orgId: kind === "organization" ? id : null,
      clientId: clientIdOf(actor),
      // Without the command: people write passwords into them.
      data: { runId, image: dockerImage ?? spaceId ?? "" },
      from,
    });
    return { owner, runId };
  });
}

async function initiatorOf(tx: Db, actor: Actor): Promise<Initiator> {
  const id = actorId(actor);
  const user = id && (await tx.user.findUnique({ where: { id }, select: { username: true } }));
  if (!id || !user) throw notFound("Namespace");
  return { type: "user", id, name: user.username };
}
