import type { Actor } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { findOwner } from "../accounts/handles/find-owner.ts";
import type { Db } from "../db.ts";
import { notFound } from "../errors.ts";
import { namespaceOf, type RunOwner } from "./runs/run.ts";

export type JobNamespace = RunOwner & { handle: string };

/** The error does not show whether the name exists (S136). */
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

export async function requireJobs(actor: Actor, action: "job.read" | "job.run", owner: RunOwner, tx?: Db): Promise<void> {
  await requirePermission(actor, action, namespaceOf(owner), { what: "Namespace", ...(tx && { tx }) });
}
