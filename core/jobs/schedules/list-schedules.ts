import type { Actor } from "../../access/actor.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import { findJobNamespace, type JobNamespace } from "../find-job-namespace.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

/** Each of these bytes counts a schedule once more, so that no page has much more than a megabyte (S137). */
const BYTES_PER_SCHEDULE = 10 * 1024;

/**
 * The schedules of a namespace, newest first; long ones count more than once, both in a page and in `total`. @throws ServiceError
 * `not_found`, `insufficient_scope`
 */
export async function listSchedules(
  actor: Actor,
  namespace: string,
  request: PageRequest = {},
): Promise<Page<Schedule> & { owner: JobNamespace }> {
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const { page, pageSize, skip } = pageBounds(request);
  // One owner does not have many (SCHEDULES_MAX_PER_OWNER).
  const all = await db().scheduledJob.findMany({
    where: { ownerId: owner.id },
    orderBy: { id: "desc" },
    select: { id: true, recordBytes: true },
  });
  let end = 0;
  const placed = all.map(({ id, recordBytes }) => {
    const at = end;
    end += Math.min(1 + Math.floor(recordBytes / BYTES_PER_SCHEDULE), pageSize);
    return { id, at };
  });
  const ids = placed.flatMap(({ id, at }) => (at >= skip && at < skip + pageSize ? id : []));
  const rows = await db().scheduledJob.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" } });
  const total = (placed.at(-1)?.at ?? -1) + 1;
  return { items: await toSchedules(db(), rows), page, pageSize, total, owner };
}
