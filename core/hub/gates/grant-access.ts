import { type Actor, actorId } from "../../access/actor.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { changeGate } from "./change-gate.ts";
import { type Asker, findAsker } from "./find-asker.ts";
import { countAnswer, mailAnswer } from "./mail-answer.ts";
import { recordAccessAudit } from "./record-access-audit.ts";

/**
 * Gives a user access to a gated repository, whether they have asked or not.
 * @throws ServiceError `not_found` (the repository or the user), `invalid_request` (no gate, or they have access already), `forbidden`,
 * `rate_limited`
 */
export async function grantAccess(actor: Actor, wanted: RepoName, whom: Asker, from: RequestOrigin): Promise<void> {
  const found = await findRepo(actor, wanted, "repo.manage");
  const user = await findAsker(whom);
  const grant = () =>
    changeGate(actor, found, "repo.manage", async (tx, repo) => {
      const where = { repoId_userId: { repoId: repo.id, userId: user.id } };
      const before = await tx.accessRequest.findUnique({ where, select: { status: true } });
      if (before?.status === "accepted") {
        throw new ServiceError("invalid_request", `${user.username} has access already.`, { field: "user" });
      }
      const decision = { status: "accepted", rejectionReason: null, decidedAt: new Date(), decidedById: actorId(actor) };
      await tx.accessRequest.upsert({
        where,
        create: { id: newId(), repoId: repo.id, userId: user.id, hasAsked: false, ...decision },
        update: decision,
      });
      const answer = before ? "accepted" : "granted";
      await mailAnswer(tx, user, { repo, answer });
      await recordAccessAudit(tx, actor, before ? "accept" : "grant", { repo, subjectId: user.id, from });
    });
  await countAnswer(actor, user, grant);
}
