import { type Actor, actorId } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { repoResource } from "../repos/repo.ts";
import { type AccessRequestStatus, MESSAGE_MAX_CHARACTERS } from "./access-request.ts";
import { changeGate } from "./change-gate.ts";
import { mailManagers } from "./mail-managers.ts";
import { recordAccessAudit } from "./record-access-audit.ts";

const ASK_LIMIT = { limit: 30, windowSeconds: 60 * 60 };
/** Mails to one owner, who may not know the sender: nobody must fill their mailbox by asking, withdrawing and asking again. */
const LETTERS_TO_OWNER = { limit: 20, windowSeconds: 24 * 60 * 60 };

/**
 * Requests access to a gated repository. Those who decide see the username and the e-mail address. The gate `auto` accepts at once; with
 * `manual` those who decide get a mail. Asking twice changes nothing.
 * @returns the current state of the request
 * @throws ServiceError `not_found`, `unauthorized`; `conflict` for users who may read it anyway; `forbidden` after a rejection;
 * `invalid_request`, `rate_limited`
 */
export async function askForAccess(
  actor: Actor,
  wanted: RepoName,
  { message }: { message?: string | null },
  from: RequestOrigin,
): Promise<AccessRequestStatus> {
  const text =
    plainText("message", message ?? "", MESSAGE_MAX_CHARACTERS)
      .normalize("NFC")
      .trim() || null;
  const found = await findRepo(actor, wanted, "repo.request_access");
  const userId = actorId(actor);
  if (!userId) throw new ServiceError("unauthorized", "Sign in to ask for access.");
  // Not in the transaction, whose rollback would undo the count.
  const counted = [await consumeThrottle(throttleKey("ask-for-access", userId), ASK_LIMIT)];
  const where = { repoId_userId: { repoId: found.id, userId } };
  if (found.gated === "manual" && !(await db().accessRequest.findUnique({ where, select: { id: true } }))) {
    counted.push(await consumeThrottle(throttleKey("ask-owner", `${userId} ${found.owner.id}`), LETTERS_TO_OWNER));
  }
  let isNew = false;
  const asked = changeGate(actor, found, "repo.request_access", async (tx, repo) => {
    const before = await tx.accessRequest.findUnique({ where, select: { status: true } });
    if (before?.status === "rejected") {
      throw new ServiceError("forbidden", "Your request was rejected. Only the repository's managers can change that.");
    }
    if (before) return before.status as AccessRequestStatus;
    if (await may(actor, "repo.read_content", repoResource(repo), tx)) {
      throw new ServiceError("conflict", "You may read this repository already.");
    }
    isNew = true;
    const status = repo.gated === "auto" ? "accepted" : "pending";
    const decidedAt = status === "accepted" ? new Date() : null;
    await tx.accessRequest.create({ data: { id: newId(), repoId: repo.id, userId, status, message: text, decidedAt } });
    if (status === "pending") await mailManagers(tx, repo, { askerId: userId, message: text });
    await recordAccessAudit(tx, actor, "ask", { repo, subjectId: userId, from });
    return status;
  });
  return asked.finally(() => (isNew ? undefined : Promise.all(counted.map(({ giveBack }) => giveBack()))));
}
