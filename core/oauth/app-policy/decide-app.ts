import { type Actor, actorId } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { composeEmail, type EmailContent } from "#core/accounts/emails/compose-email.ts";
import { changeOrganization } from "#core/accounts/organizations/change-organization.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import type { Db } from "#core/db.ts";
import { conflict, invalidRequest, notFound, ServiceError } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { findClientRecord } from "../clients/client-records.ts";
import type { AppDecision } from "./app-policy.ts";

const RECIPIENTS_MAX = 100;

const events = { approved: "organization.approve_app", blocked: "organization.block_app" } as const;

/** Null withdraws the decision. Then the app policy applies. */
export async function decideApp(
  actor: Actor,
  orgId: string,
  { clientId, decision }: { clientId: string; decision: AppDecision | null },
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const app = clientId.includes("\0") ? undefined : await findClientRecord(clientId);
  if (!app && decision !== null) {
    throw new ServiceError("not_found", "There is no app with this client ID. Ask the app's owner for the correct client ID.", {
      field: "clientId",
    });
  }
  if (app?.isFirstParty && decision === "blocked") {
    throw invalidRequest("This app is part of the service and acts only for its user: it is always allowed.");
  }
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const at = { orgId_clientId: { orgId, clientId } };
    const before = await tx.organizationApp.findUnique({ where: at, select: { decision: true } });
    if (decision === null) {
      if (!before) throw notFound("Decision");
      await tx.organizationApp.delete({ where: at });
    } else {
      if (!before && (await tx.organizationApp.count({ where: { orgId } })) >= DECISIONS_MAX) throw tooManyDecisions();
      const decided = { decision, decidedById: actorId(actor), createdAt: new Date() };
      await tx.organizationApp.upsert({ where: at, create: { orgId, clientId, ...decided }, update: decided });
      if (app) await answerRequests(tx, { orgId, clientId, app: app.name, decision });
    }
    if (before?.decision === (decision ?? undefined)) return;
    await record({
      type: decision ? events[decision] : "organization.reset_app",
      clientId,
      data: { name: app?.name ?? clientId, from: before?.decision ?? null },
    });
  });
}

/** S137: an ID may have 1,000 characters, and anybody may publish any number of apps. */
const DECISIONS_MAX = 1_000;
const tooManyDecisions = () =>
  conflict(`There are already ${DECISIONS_MAX.toLocaleString("en")} decisions. Reset one first, or allow only approved apps.`);

type Answer = { orgId: string; clientId: string; app: string; decision: AppDecision };

async function answerRequests(tx: Db, { orgId, clientId, app, decision }: Answer): Promise<void> {
  const asked = await tx.organizationAppRequest.findMany({
    where: { orgId, clientId, user: { disabledAt: null, emailVerifiedAt: { not: null }, memberships: { some: { orgId } } } },
    orderBy: { createdAt: "asc" },
    take: RECIPIENTS_MAX,
    select: { user: { select: { username: true, email: true } } },
  });
  await tx.organizationAppRequest.deleteMany({ where: { orgId, clientId } });
  if (asked.length === 0) return;
  const where = { id: orgId };
  const { name, appPolicy } = await tx.organization.findUniqueOrThrow({ where, select: { name: true, appPolicy: true } });
  for (const { user } of asked) {
    await queueMail(tx, {
      to: user.email,
      ...requestAnsweredEmail({ recipientName: user.username, organization: name, app, decision, isOpen: appPolicy !== "none" }),
    });
  }
}

type Answered = {
  recipientName: string;
  organization: string;
  app: string;
  decision: AppDecision;
  isOpen: boolean;
};

function requestAnsweredEmail({ recipientName, organization, app, decision, isOpen }: Answered): EmailContent {
  if (decision === "blocked") {
    return composeEmail(`"${app}" was blocked in ${organization}`, recipientName, [
      `The administrators of ${organization} have blocked the app "${app}", which you requested. It cannot access the organization.`,
    ]);
  }
  return composeEmail(`"${app}" was approved in ${organization}`, recipientName, [
    `The administrators of ${organization} have approved the app "${app}", which you requested.`,
    isOpen
      ? "Sign in to it again and select the organization."
      : "The organization allows no apps at present. Once it allows approved apps, sign in to the app again and select the organization.",
  ]);
}
