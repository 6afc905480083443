import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { recordAccessAudit } from "./record-access-audit.ts";

/**
 * Withdraws one's own request, or gives up the access that it led to. A rejected request stays: withdrawing it would be a way to ask again
 * and again.
 * @throws ServiceError `not_found` if there is no request of theirs, `conflict` for a rejected one
 */
export async function withdrawAccessRequest(actor: Actor, repoId: string, from: RequestOrigin): Promise<void> {
  const userId = actorId(actor);
  if (!userId || !isId(repoId)) throw notFound("Request");
  await requirePermission(actor, "access_request.withdraw", { userId }, { what: "Request" });
  await db().$transaction(async (tx) => {
    const repo = await lockRepo(tx, repoId);
    const where = { repoId_userId: { repoId, userId } };
    const request = await tx.accessRequest.findUnique({ where, select: { status: true } });
    if (!repo || !request) throw notFound("Request");
    if (request.status === "rejected") {
      throw new ServiceError("conflict", "This request was answered. Only the repository's managers can change that.");
    }
    await tx.accessRequest.delete({ where });
    await recordAccessAudit(tx, actor, "withdraw", { repo, subjectId: userId, from });
  });
}
