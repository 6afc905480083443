import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { composeEmail, type EmailContent, link } from "#core/accounts/emails/compose-email.ts";
import { lockOwner } from "#core/accounts/handles/find-owner.ts";
import { consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { conflict, notFound } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { findClientRecord } from "../clients/client-records.ts";
import { findRefusals } from "./app-policy.ts";

// Each request may send emails to many people.
const ASK_LIMIT = { limit: 20, windowSeconds: 24 * 60 * 60 };
const RECIPIENTS_MAX = 20;

export async function askForApp(person: Person, orgId: string, clientId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(person, "organization.ask_for_app", { orgId }, { what: "Organization" });
  const app = clientId.includes("\0") ? undefined : await findClientRecord(clientId);
  if (!app) throw notFound("App");
  const refusal = (await findRefusals(clientId, [orgId])).get(orgId);
  if (!refusal) throw conflict("The organization already allows this app. Go back to the app and sign in again.");
  if (refusal !== "not_approved") {
    const reason = refusal === "blocked" ? "has blocked this app" : "allows no apps";
    throw conflict(`The organization ${reason}. Contact its administrators.`);
  }
  const key = { orgId, clientId, userId: person.userId };
  if (await db().organizationAppRequest.findUnique({ where: { orgId_clientId_userId: key } })) return;
  await consumeThrottle(throttleKey("ask-for-app", person.userId), ASK_LIMIT);
  await db().$transaction(async (tx) => {
    if (!(await lockOwner(tx, { kind: "organization", id: orgId }))) throw notFound("Organization");
    const isFirst = (await tx.organizationAppRequest.count({ where: { orgId, clientId } })) === 0;
    const { count } = await tx.organizationAppRequest.createMany({ data: [key], skipDuplicates: true });
    if (count === 0) return;
    if (isFirst) await mailAdministrators(tx, { orgId, askerId: person.userId, app: app.name });
    await recordAuditEvent(tx, {
      type: "organization.request_app",
      actorId: person.userId,
      orgId,
      clientId,
      data: { name: app.name },
      from,
    });
  });
}

async function mailAdministrators(
  tx: Db,
  { orgId, askerId, app }: { orgId: string; askerId: string; app: string },
): Promise<void> {
  const organization = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
  const asker = await tx.user.findUniqueOrThrow({ where: { id: askerId }, select: { username: true } });
  // A restricted administrator could not answer.
  const admins = await tx.$queryRaw<{ username: string; email: string }[]>`
    SELECT u.username, u.email FROM member_standing s JOIN membership m USING (org_id, user_id) JOIN "user" u ON u.id = s.user_id
    WHERE s.org_id = ${orgId} AND s.role = 'admin' AND cardinality(s.restrictions) = 0
      AND u.disabled_at IS NULL AND u.email_verified_at IS NOT NULL
    ORDER BY m.created_at LIMIT ${RECIPIENTS_MAX}`;
  for (const { username, email } of admins) {
    const message = appRequestEmail({ recipientName: username, asker: asker.username, organization: organization.name, app });
    await queueMail(tx, { to: email, ...message });
  }
}

export async function hasAskedForApp({ userId }: Person, orgId: string, clientId: string): Promise<boolean> {
  const key = { orgId_clientId_userId: { orgId, clientId, userId } };
  return (await db().organizationAppRequest.findUnique({ where: key, select: { orgId: true } })) !== null;
}

type Asked = { recipientName: string; asker: string; organization: string; app: string };

function appRequestEmail({ recipientName, asker, organization, app }: Asked): EmailContent {
  return composeEmail(`${asker} requests an app for ${organization}`, recipientName, [
    `${asker} asks the organization ${organization} to allow the app "${app}". Approve or block it here:`,
    link(`/organizations/${organization}/settings/app-policy`),
  ]);
}
