import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { invalidRequest, notFound } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import type { JobStage } from "../stages.ts";
import { namespaceOf, type Run, type RunOwner, toRuns } from "./run.ts";

/** The error does not show whether the run exists (S136). */
export async function findRun(actor: Actor, owner: RunOwner, id: string): Promise<Run> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  const row = isId(id) ? await db().jobRun.findUnique({ where: { id }, omit: { payload: true } }) : null;
  if (row?.ownerId !== owner.id) throw notFound("Job");
  const [run] = await toRuns([row]);
  return run as Run;
}

export type RunSearch = {
  stages?: readonly JobStage[];
  webhookId?: string;
  labels?: Readonly<Record<string, string>>;
  before?: string;
  limit?: number;
};

const LIMIT_MAX = 100;
/** A hundred runs may have half a megabyte each (S137). */
const PAGE_BYTES = 1024 * 1024;

/** `next` is the `before` of the next page. A page of a search by labels may be empty. */
export async function listRuns(
  actor: Actor,
  owner: RunOwner,
  search: RunSearch = {},
): Promise<{ runs: Run[]; next: string | null }> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  const limit = Math.min(Math.max(1, Math.trunc(search.limit ?? 30)), LIMIT_MAX);
  if (search.before !== undefined && !isId(search.before)) {
    throw invalidRequest("This page does not exist. Start from the first page.", "cursor");
  }
  const end = await endOfSearch(owner, search);
  const found = await db().jobRun.findMany({
    where: { ...conditions(owner, search), id: { ...(search.before && { lt: search.before }), ...(end && { gte: end }) } },
    orderBy: { id: "desc" },
    take: limit + 1,
    select: { id: true, recordBytes: true },
  });
  const ids = found.slice(0, countThatFit(found, limit)).map(({ id }) => id);
  const where = { id: { in: ids } };
  const rows = await db().jobRun.findMany({ where, orderBy: { id: "desc" }, omit: { secrets: true, payload: true } });
  return { runs: await toRuns(rows), next: (found.length > ids.length ? ids.at(-1) : end) ?? null };
}

/** Labels have no index, so each search reads a limited amount (S137). */
const SEARCH_MAX_RUNS = 10_000;
const SEARCH_MAX_BYTES = 8 * 1024 * 1024;

async function endOfSearch(owner: RunOwner, { labels = {}, before }: RunSearch): Promise<string | undefined> {
  if (Object.keys(labels).length === 0) return undefined;
  const older = before === undefined ? Prisma.empty : Prisma.sql`AND id < ${before}`;
  const [beyond] = await db().$queryRaw<{ end: string }[]>`
    SELECT "end" FROM (
      SELECT id, lag(id) OVER latest AS "end", row_number() OVER latest AS number, sum(record_bytes) OVER latest AS bytes
        FROM (SELECT id, record_bytes FROM job_run WHERE owner_id = ${owner.id} ${older}
               ORDER BY id DESC LIMIT ${SEARCH_MAX_RUNS + 1}) AS run
      WINDOW latest AS (ORDER BY id DESC)) AS placed
     WHERE "end" IS NOT NULL AND (number > ${SEARCH_MAX_RUNS} OR bytes > ${SEARCH_MAX_BYTES}) ORDER BY id DESC LIMIT 1`;
  return beyond?.end;
}

function countThatFit(found: readonly { recordBytes: number }[], limit: number): number {
  let total = 0;
  const over = found.findIndex(({ recordBytes }, at) => {
    total += recordBytes;
    return at > 0 && total > PAGE_BYTES;
  });
  return over < 0 ? limit : Math.min(over, limit);
}

/** Counting stops here, because an owner may have millions of runs (S137). */
export const COUNTED_MAX = 10_000;

export async function countRuns(
  actor: Actor,
  owner: RunOwner,
  search: Omit<RunSearch, "before" | "limit"> = {},
): Promise<number> {
  await requirePermission(actor, "job.read", namespaceOf(owner), { what: "Job" });
  if (await endOfSearch(owner, search))
    throw invalidRequest("There are too many jobs to count by label. List them instead.", "label");
  const first = { where: { ownerId: owner.id }, orderBy: { id: "desc" }, skip: COUNTED_MAX - 1, select: { id: true } } as const;
  const oldest = await db().jobRun.findFirst(first);
  return db().jobRun.count({ where: { ...conditions(owner, search), ...(oldest && { id: { gte: oldest.id } }) } });
}

function conditions(owner: RunOwner, { stages, webhookId, labels = {} }: RunSearch): Prisma.JobRunWhereInput {
  return {
    ownerId: owner.id,
    ...(stages && { stage: { in: [...stages] } }),
    ...(webhookId !== undefined && { webhookId }),
    AND: Object.entries(labels).map(([name, value]) => ({ spec: { path: ["labels", name], equals: value } })),
  };
}
