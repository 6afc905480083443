import { type Actor, actorId } from "../../access/actor.ts";
import { displayText } from "../../accounts/display-text.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { parseAccessRequestStatus, REASON_MAX_CHARACTERS } from "./access-request.ts";
import { changeGate } from "./change-gate.ts";
import { type Asker, findAsker } from "./find-asker.ts";
import { countAnswer, mailAnswer } from "./mail-answer.ts";
import { recordAccessAudit } from "./record-access-audit.ts";

const acts = { accepted: "accept", rejected: "reject", pending: "reopen" } as const;

/**
 * Answers an access request, or changes the answer: an accepted user gets access at once, and loses it at once when that is revoked.
 * The user gets a mail with the answer.
 * @throws ServiceError `not_found` (the repository, the user or their request), `conflict` (already decided so), `forbidden`,
 * `invalid_request`, `rate_limited`
 */
export async function decideAccessRequest(
  actor: Actor,
  wanted: RepoName,
  { status, rejectionReason, ...asker }: Asker & { status: unknown; rejectionReason?: string | null },
  from: RequestOrigin,
): Promise<void> {
  const to = parseAccessRequestStatus(status);
  const limits = { maxCharacters: REASON_MAX_CHARACTERS, isRequired: false };
  const reason = (to === "rejected" && displayText("rejectionReason", rejectionReason ?? "", limits)) || null;
  const found = await findRepo(actor, wanted, "repo.manage");
  const user = await findAsker(asker);
  const decide = () =>
    changeGate(actor, found, "repo.manage", async (tx, repo) => {
      const where = { repoId_userId: { repoId: repo.id, userId: user.id } };
      const before = await tx.accessRequest.findUnique({ where, select: { status: true } });
      if (!before) throw notFound("Request");
      if (before.status === to) throw new ServiceError("conflict", `The request of ${user.username} is ${to} already.`);
      const decided =
        to === "pending" ? { decidedAt: null, decidedById: null } : { decidedAt: new Date(), decidedById: actorId(actor) };
      await tx.accessRequest.update({ where, data: { status: to, rejectionReason: reason, ...decided } });
      if (to !== "pending") await mailAnswer(tx, user, { repo, answer: to, reason });
      await recordAccessAudit(tx, actor, acts[to], { repo, subjectId: user.id, from });
    });
  await (to === "pending" ? decide() : countAnswer(actor, user, decide));
}
