import { repoPath } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { composeEmail, type EmailContent, link } from "../../accounts/emails/compose-email.ts";
import { findOwner } from "../../accounts/handles/find-owner.ts";
import { displayText } from "../../accounts/plain-text.ts";
import { consumeThrottle, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { findRepo, type RepoAction, type RepoName } from "../repos/find-repo.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource, typeInProse } from "../repos/repo.ts";
import { parseAccessRequestStatus, REASON_MAX_CHARACTERS, requireGate } from "./access-requests.ts";

const actionOf = { accepted: "accept", rejected: "reject", pending: "reopen" } as const;

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
      const before = await tx.accessRequest.findUnique({ where, select: { status: true, hasAsked: true } });
      if (!before) throw notFound("Request");
      if (before.status === to) throw conflict(`The request of ${user.username} is already ${to}.`);
      const decided =
        to === "pending" ? { decidedAt: null, decidedById: null } : { decidedAt: new Date(), decidedById: actorId(actor) };
      await tx.accessRequest.update({ where, data: { status: to, rejectionReason: reason, ...decided } });
      if (to !== "pending") await emailAnswer(tx, user, { repo, answer: answerTo(before, to), reason });
      await recordAccessAudit(tx, actor, actionOf[to], { repo, subjectId: user.id, from });
    });
  await (to === "pending" ? decide() : countAnswer(actor, user, decide));
}

export async function grantAccess(actor: Actor, wanted: RepoName, whom: Asker, from: RequestOrigin): Promise<void> {
  const found = await findRepo(actor, wanted, "repo.manage");
  const user = await findAsker(whom);
  const grant = () =>
    changeGate(actor, found, "repo.manage", async (tx, repo) => {
      const where = { repoId_userId: { repoId: repo.id, userId: user.id } };
      const before = await tx.accessRequest.findUnique({ where, select: { status: true, hasAsked: true } });
      if (before?.status === "accepted") throw invalidRequest(`${user.username} already has access.`, "user");
      const decision = { status: "accepted", rejectionReason: null, decidedAt: new Date(), decidedById: actorId(actor) };
      await tx.accessRequest.upsert({
        where,
        create: { id: newId(), repoId: repo.id, userId: user.id, hasAsked: false, ...decision },
        update: decision,
      });
      await emailAnswer(tx, user, { repo, answer: answerTo(before, "accepted") });
      await recordAccessAudit(tx, actor, before ? "accept" : "grant", { repo, subjectId: user.id, from });
    });
  await countAnswer(actor, user, grant, { isUnasked: true });
}

type Asker = { user?: string | undefined; userId?: string | undefined };

async function findAsker({ user, userId }: Asker): Promise<{ id: string; username: string; email: string }> {
  const owner = user === undefined ? undefined : await findOwner(user);
  const id = owner?.kind === "user" ? owner.id : userId;
  const found =
    id && isId(id)
      ? await db().user.findUnique({ where: { id, disabledAt: null }, select: { id: true, username: true, email: true } })
      : null;
  if (!found) throw notFound("User");
  return found;
}

const EMAILS: ThrottleLimit = { limit: 20, windowSeconds: 60 * 60 };

/** Limits emails that nobody requested, because the sender chose the names in them. */
export const GRANTS: ThrottleLimit = { limit: 200, windowSeconds: 24 * 60 * 60 };

async function countAnswer<T>(
  actor: Actor,
  user: { id: string },
  decide: () => Promise<T>,
  { isUnasked = false } = {},
): Promise<T> {
  const by = actorId(actor);
  if (!by) return decide();
  const counted = [await consumeThrottle(throttleKey("access-letter", `${by} ${user.id}`), EMAILS)];
  try {
    if (isUnasked) counted.push(await consumeThrottle(throttleKey("access-grant", by), GRANTS));
    return await decide();
  } catch (error) {
    for (const one of counted) await one.giveBack();
    throw error;
  }
}

async function emailAnswer(
  tx: Db,
  user: { username: string; email: string },
  answered: Omit<Parameters<typeof accessAnswerEmail>[0], "recipientName">,
): Promise<void> {
  await queueMail(tx, { to: user.email, ...accessAnswerEmail({ recipientName: user.username, ...answered }) });
}

type Answered = {
  recipientName: string;
  repo: Pick<Repo, "type" | "fullName" | "isPrivate">;
  answer: "accepted" | "granted" | "rejected" | "removed";
  reason?: string | null;
};

/** `granted`: the user did not ask. `removed`: the user had access. */
function answerTo(before: { status: string; hasAsked: boolean } | null, to: "accepted" | "rejected"): Answered["answer"] {
  if (to === "accepted") return before?.hasAsked ? "accepted" : "granted";
  return before?.status === "accepted" ? "removed" : "rejected";
}

function accessAnswerEmail({ recipientName, repo, answer, reason }: Answered): EmailContent {
  const { fullName, isPrivate } = repo;
  const type = typeInProse(repo.type);
  const address = link(repoPath(repo.type, fullName));
  if (answer === "rejected") {
    return composeEmail(`Your request for access to ${fullName} was rejected`, recipientName, [
      `The maintainers of the ${type} ${fullName} have rejected your request for access.`,
      ...(reason ? [`Reason: ${reason}`] : []),
      address,
    ]);
  }
  if (answer === "removed") {
    return composeEmail(`You no longer have access to ${fullName}`, recipientName, [
      `The maintainers of the ${type} ${fullName} have removed your access.`,
      ...(reason ? [`Reason: ${reason}`] : []),
      address,
    ]);
  }
  const opening = answer === "granted" ? "You were given access" : "Your request was accepted";
  return composeEmail(`You have access to ${fullName}`, recipientName, [
    `${opening}: you can ${isPrivate ? "" : "now "}read the ${type} ${fullName}${isPrivate ? " once it is public" : ""}.`,
    address,
  ]);
}

/**
 * Reads the row under the lock, because the gate or the right to decide may have been removed meanwhile (S135). `change` may run
 * several times.
 */
export async function changeGate<T>(
  actor: Actor,
  { id }: Pick<Repo, "id">,
  action: RepoAction,
  change: (tx: Db, repo: Repo) => Promise<T>,
): Promise<T> {
  return inTransaction(async (tx) => {
    const repo = await lockRepo(tx, id);
    if (!repo) throw notFound("Repository");
    await requirePermission(actor, action, repoResource(repo), { what: "Repository", tx });
    requireGate(repo);
    return change(tx, repo);
  });
}

type AccessChange = "ask" | "accept" | "reject" | "reopen" | "grant";

export async function recordAccessAudit(
  tx: Db,
  actor: Actor,
  what: AccessChange,
  { repo, subjectId, from }: { repo: Pick<Repo, "fullName" | "type" | "owner">; subjectId: string; from: RequestOrigin },
): Promise<void> {
  await recordAuditEvent(tx, {
    type: `access_request.${what}`,
    actor,
    owner: repo.owner,
    subjectId,
    data: { repo: repo.fullName, type: repo.type },
    from,
  });
}
