import { repoPath } from "@keyhook/sdk";
import { type Actor, actorId } from "../../access/actor.ts";
import { may, requirePermission } from "../../access/may.ts";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { composeEmail, type EmailContent, link } from "../../accounts/emails/compose-email.ts";
import { plainText } from "../../accounts/plain-text.ts";
import { consumeThrottle, throttleKey } from "../../accounts/throttle.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { conflict, notFound, ServiceError } from "../../errors.ts";
import { isId, newId } from "../../ids.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { findRepo, type RepoName } from "../repos/find-repo.ts";
import { lockRepo } from "../repos/read-repos.ts";
import { type Repo, repoResource, typeInProse } from "../repos/repo.ts";
import { type AccessRequestStatus, MESSAGE_MAX_CHARACTERS } from "./access-requests.ts";
import { changeGate, recordAccessAudit } from "./decide-access-request.ts";

const ASK_LIMIT = { limit: 30, windowSeconds: 60 * 60 };
const EMAILS_TO_OWNER = { limit: 20, windowSeconds: 24 * 60 * 60 };

/** Granted access counts only if the user asked for it. Otherwise owners could use up a user's requests (S137). */
const REQUESTS_MAX = 1_000;
const tooManyRequests = () =>
  conflict(
    `You have requested access to ${REQUESTS_MAX.toLocaleString("en")} repositories, which is the maximum. Withdraw a request first.`,
  );

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
  if (!userId) throw new ServiceError("unauthorized", "Sign in to request access.");
  // Counted outside of the transaction, because a rollback would undo the count.
  const counted = [await consumeThrottle(throttleKey("ask-for-access", userId), ASK_LIMIT)];
  const where = { repoId_userId: { repoId: found.id, userId } };
  if (found.gated === "manual" && !(await db().accessRequest.findUnique({ where, select: { id: true } }))) {
    counted.push(await consumeThrottle(throttleKey("ask-owner", `${userId} ${found.owner.id}`), EMAILS_TO_OWNER));
  }
  let isNew = false;
  const asked = changeGate(actor, found, "repo.request_access", async (tx, repo) => {
    isNew = false;
    const before = await tx.accessRequest.findUnique({ where, select: { status: true } });
    if (before?.status === "rejected") {
      throw new ServiceError(
        "forbidden",
        "The repository's maintainers have refused you access. Only they can change the decision.",
      );
    }
    if (before) return before.status as AccessRequestStatus;
    if (await may(actor, "repo.read_content", repoResource(repo), tx))
      throw conflict("You already have access to this repository.");
    if ((await tx.accessRequest.count({ where: { userId, hasAsked: true } })) >= REQUESTS_MAX) throw tooManyRequests();
    isNew = true;
    const status = repo.gated === "auto" ? "accepted" : "pending";
    const decidedAt = status === "accepted" ? new Date() : null;
    await tx.accessRequest.create({ data: { id: newId(), repoId: repo.id, userId, status, message: text, decidedAt } });
    if (status === "pending") await emailManagers(tx, repo, { askerId: userId, message: text });
    await recordAccessAudit(tx, actor, "ask", { repo, subjectId: userId, from });
    return status;
  });
  return asked.finally(() => (isNew ? undefined : Promise.all(counted.map(({ giveBack }) => giveBack()))));
}

export async function withdrawAccessRequest(actor: Actor, repoId: string, from: RequestOrigin): Promise<void> {
  const userId = actorId(actor);
  if (!userId || !isId(repoId)) throw notFound("Request");
  await requirePermission(actor, "access_request.withdraw", { userId }, { what: "Request" });
  await inTransaction(async (tx) => {
    const repo = await lockRepo(tx, repoId);
    const where = { repoId_userId: { repoId, userId } };
    const request = await tx.accessRequest.findUnique({ where, select: { status: true } });
    if (!repo || !request) throw notFound("Request");
    if (request.status === "rejected") {
      throw conflict("This request was already decided. Only the repository's maintainers can change the decision.");
    }
    await markWithdrawn(tx);
    await tx.accessRequest.delete({ where });
    const { fullName, type, owner } = repo;
    const isSeen = await may(actor, "repo.read", repoResource(repo), tx);
    // The user's security log must not name a repository that the user can no longer see (S136).
    const about = isSeen ? { owner, data: { repo: fullName, type } } : { data: { type } };
    await recordAuditEvent(tx, { type: "access_request.withdraw", actor, subjectId: userId, ...about, from });
  });
}

/** In this transaction, giving up access at an automatic gate ends no visits, because any user could repeat it (S137). */
export async function markWithdrawn(tx: Db): Promise<void> {
  await tx.$executeRaw`SELECT set_config('keyhook.is_withdrawn', 'on', true)`; // read by end_space_visits_of_gate
}

const EMAILS_MAX = 20;

async function emailManagers(
  tx: Db,
  repo: Repo,
  { askerId, message }: { askerId: string; message: string | null },
): Promise<void> {
  const asker = await tx.user.findUniqueOrThrow({ where: { id: askerId }, select: { username: true, email: true } });
  for (const { username, email } of await managersOf(tx, repo)) {
    await queueMail(tx, { to: email, ...accessRequestEmail({ recipientName: username, asker, repo, message }) });
  }
}

async function managersOf(tx: Db, { owner, createdById }: Repo): Promise<{ username: string; email: string }[]> {
  const select = { username: true, email: true } as const;
  const isReachable = { disabledAt: null, emailVerifiedAt: { not: null } };
  if (owner.kind === "user") return tx.user.findMany({ where: { id: owner.id, ...isReachable }, select });
  return tx.$queryRaw`SELECT u.username, u.email FROM member_standing m
      JOIN membership j ON j.org_id = m.org_id AND j.user_id = m.user_id JOIN "user" u ON u.id = m.user_id
    WHERE m.org_id = ${owner.id} AND (m.role = 'admin' OR m.user_id = ${createdById}) AND ${membersWhoMay("repo.manage", createdById)}
      AND u.disabled_at IS NULL AND u.email_verified_at IS NOT NULL
    ORDER BY j.created_at LIMIT ${EMAILS_MAX}`;
}

type Asked = {
  recipientName: string;
  asker: { username: string; email: string };
  repo: Pick<Repo, "type" | "fullName">;
  message: string | null;
};

function accessRequestEmail({ recipientName, asker, repo, message }: Asked): EmailContent {
  return composeEmail(`${asker.username} requests access to ${repo.fullName}`, recipientName, [
    `${asker.username} (${asker.email}) requests access to the ${typeInProse(repo.type)} ${repo.fullName}. Accept or reject the request here:`,
    link(`${repoPath(repo.type, repo.fullName)}/settings/access`),
    ...(message ? [`Their message:\n\n${quoted(message)}`] : []),
  ]);
}

/** Quoted, so that nobody takes a stranger's words for the service's. */
const quoted = (text: string): string => text.replace(/\r\n?/g, "\n").replace(/^/gm, "> ");
