import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { findOwner } from "../accounts/handles/find-owner.ts";
import type { Db } from "../db.ts";
import { notFound } from "../errors.ts";
import { namespaceOf, type RunOwner } from "./runs/run.ts";

/** The user or organization on whose account jobs run, found by the name in the URL. */
export type JobNamespace = RunOwner & { handle: string };

/**
 * @throws ServiceError `not_found`, the same for an unknown name and for one whose jobs the actor may not see (S136); `insufficient_scope`
 */
export async function findJobNamespace(
  actor: Actor,
  action: "job.read" | "job.run",
  handle: string,
  tx?: Db,
): Promise<JobNamespace> {
  const owner = await findOwner(handle);
  if (!owner) throw notFound("Namespace");
  const { kind, id } = owner;
  await requireJobs(actor, action, { kind, id }, tx);
  return { kind, id, handle: owner.handle };
}

/** Requires the right to an owner's jobs, within the transaction of a change. */
export async function requireJobs(actor: Actor, action: "job.read" | "job.run", owner: RunOwner, tx?: Db): Promise<void> {
  await requirePermission(actor, action, namespaceOf(owner), { what: "Namespace", ...(tx && { tx }) });
}
