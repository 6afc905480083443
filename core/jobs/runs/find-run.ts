import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { namespaceOf, type Run, type RunOwner, toRuns } from "./run.ts";

/** One run of an owner. @throws ServiceError `not_found`, both if it does not exist and if the actor may not see it (S136) */
export async function findRun(actor: Actor, owner: RunOwner, id: string): Promise<Run> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  const row = isId(id) ? await db().jobRun.findUnique({ where: { id }, omit: { payload: true } }) : null;
  if (row?.ownerId !== owner.id) throw notFound("Job");
  const [run] = await toRuns([row]);
  return run as Run;
}
