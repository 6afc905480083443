import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { lockOrganization } from "#core/accounts/organizations/lock-organization.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { findClientRecord } from "../client-records.ts";
import type { AppDecision } from "./app-policies.ts";
import { requestAnsweredLetter } from "./mails/request-answered-letter.ts";

/** At most this many of the members who asked for an app get a mail. */
const LETTERS_MAX = 100;

const events = { approved: "organization.approve_app", blocked: "organization.block_app" } as const;

/**
 * Approves an app for an organization, blocks it there, or, with null, withdraws the decision, so that the policy applies again. It takes
 * effect with the app's next request and only in this organization. Members who asked for the app are told.
 * @throws ServiceError `forbidden`, `not_found`, `invalid_request` for an app that cannot be blocked
 */
export async function decideApp(
  actor: Actor,
  orgId: string,
  { clientId, decision }: { clientId: string; decision: AppDecision | null },
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const app = clientId.includes("\0") ? undefined : await findClientRecord(clientId);
  if (!app && decision !== null) {
    throw new ServiceError("not_found", "No app here has this client ID. Copy it from the app's owner.", { field: "clientId" });
  }
  if (app?.isFirstParty && decision === "blocked") {
    throw new ServiceError(
      "invalid_request",
      "This app comes with the service and acts for its person alone: it is always let in.",
    );
  }
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const at = { orgId_clientId: { orgId, clientId } };
    const before = await tx.organizationApp.findUnique({ where: at, select: { decision: true } });
    if (decision === null) {
      if (!before) throw notFound("Decision");
      await tx.organizationApp.delete({ where: at });
    } else {
      const decided = { decision, decidedById: actorId(actor), createdAt: new Date() };
      await tx.organizationApp.upsert({ where: at, create: { orgId, clientId, ...decided }, update: decided });
      if (app) await answerRequests(tx, { orgId, clientId, app: app.name, decision });
    }
    if (before?.decision === (decision ?? undefined)) return;
    await recordAuditEvent(tx, {
      type: decision ? events[decision] : "organization.reset_app",
      actorId: actorId(actor),
      orgId,
      clientId,
      data: { name: app?.name ?? clientId, from: before?.decision ?? null },
      from,
    });
  });
}

type Answer = { orgId: string; clientId: string; app: string; decision: AppDecision };

async function answerRequests(tx: Db, { orgId, clientId, app, decision }: Answer): Promise<void> {
  const asked = await tx.organizationAppRequest.findMany({
    where: { orgId, clientId, user: { disabledAt: null, emailVerifiedAt: { not: null }, memberships: { some: { orgId } } } },
    orderBy: { createdAt: "asc" },
    take: LETTERS_MAX,
    select: { user: { select: { username: true, email: true } } },
  });
  await tx.organizationAppRequest.deleteMany({ where: { orgId, clientId } });
  if (asked.length === 0) return;
  const { name } = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
  for (const { user } of asked) {
    await queueMail(tx, {
      to: user.email,
      ...requestAnsweredLetter({ greeted: user.username, organization: name, app, decision }),
    });
  }
}
