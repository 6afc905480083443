import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import type { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import type { JobStage } from "../stages.ts";
import { namespaceOf, type Run, type RunOwner, toRuns } from "./run.ts";

export type RunSearch = {
  stages?: readonly JobStage[];
  webhookId?: string;
  /** Labels that the run must have, with their values. */
  labels?: Readonly<Record<string, string>>;
  /** Runs before this id, the last of the previous page. */
  before?: string;
  /** At most 100; default 30. */
  limit?: number;
};

const LIMIT_MAX = 100;
/** A page also ends here, after one run at least: otherwise one small request could return a hundred runs of a megabyte each (S137). */
const PAGE_BYTES = 1024 * 1024;

/** Runs of an owner, newest first. `next`: `before` for the next page. */
export async function listRuns(
  actor: Actor,
  owner: RunOwner,
  search: RunSearch = {},
): Promise<{ runs: Run[]; next: string | null }> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  const limit = Math.min(Math.max(1, Math.trunc(search.limit ?? 30)), LIMIT_MAX);
  if (search.before !== undefined && !isId(search.before)) {
    throw new ServiceError("invalid_request", "This page of the list is not there. Start from the first.", { field: "cursor" });
  }
  const found = await db().jobRun.findMany({
    where: { ...conditions(owner, search), ...(search.before && { id: { lt: search.before } }) },
    orderBy: { id: "desc" },
    take: limit + 1,
    select: { id: true, recordBytes: true },
  });
  const ids = found.slice(0, countThatFit(found, limit)).map(({ id }) => id);
  const where = { id: { in: ids } };
  const rows = await db().jobRun.findMany({ where, orderBy: { id: "desc" }, omit: { secrets: true, payload: true } });
  return { runs: await toRuns(rows), next: found.length > ids.length ? (ids.at(-1) ?? null) : null };
}

function countThatFit(found: readonly { recordBytes: number }[], limit: number): number {
  let total = 0;
  const over = found.findIndex(({ recordBytes }, at) => {
    total += recordBytes;
    return at > 0 && total > PAGE_BYTES;
  });
  return over < 0 ? limit : Math.min(over, limit);
}

export async function countRuns(
  actor: Actor,
  owner: RunOwner,
  search: Omit<RunSearch, "before" | "limit"> = {},
): Promise<number> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  return db().jobRun.count({ where: conditions(owner, search) });
}

function conditions(owner: RunOwner, { stages, webhookId, labels = {} }: RunSearch): Prisma.JobRunWhereInput {
  return {
    ownerId: owner.id,
    ...(stages && { stage: { in: [...stages] } }),
    ...(webhookId !== undefined && { webhookId }),
    AND: Object.entries(labels).map(([name, value]) => ({ spec: { path: ["labels", name], equals: value } })),
  };
}
