import type { Actor } from "../../access/actor.ts";
import { type Page, type PageRequest, pageBounds } from "../../accounts/page.ts";
import { db } from "../../db.ts";
import { findJobNamespace, type JobNamespace } from "../find-job-namespace.ts";
import { type Schedule, toSchedules } from "./schedule.ts";

/** The schedules of a namespace, the newest first. @throws ServiceError `not_found`, `insufficient_scope` */
export async function listSchedules(
  actor: Actor,
  namespace: string,
  request: PageRequest = {},
): Promise<Page<Schedule> & { owner: JobNamespace }> {
  const owner = await findJobNamespace(actor, "job.read", namespace);
  const { page, pageSize, skip, take } = pageBounds(request);
  const where = { ownerId: owner.id };
  const [rows, total] = await Promise.all([
    db().scheduledJob.findMany({ where, orderBy: { id: "desc" }, skip, take }),
    db().scheduledJob.count({ where }),
  ]);
  return { items: await toSchedules(db(), rows), page, pageSize, total, owner };
}
