import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { consumeThrottle, throttleKey } from "#core/accounts/throttle.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { findClientRecord } from "../client-records.ts";
import { findRefusals } from "./find-refusals.ts";
import { appRequestLetter } from "./mails/app-request-letter.ts";

// Each request is a mail to people who have other work.
const ASK_LIMIT = { limit: 20, windowSeconds: 24 * 60 * 60 };
/** If an organization has many administrators, the longest-serving ones get the mail. */
const LETTERS_MAX = 20;

/**
 * A member asks the administrators of an organization to allow an app. The request waits until it is answered; asking again changes
 * nothing.
 * @throws ServiceError `forbidden` for non-members; `not_found` for an unknown app; `conflict` if there is nothing to ask; `rate_limited`
 */
export async function askForApp(person: Person, orgId: string, clientId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(person, "organization.ask_for_app", { orgId }, { what: "Organization" });
  const app = clientId.includes("\0") ? undefined : await findClientRecord(clientId);
  if (!app) throw notFound("App");
  const refusal = (await findRefusals(clientId, [orgId])).get(orgId);
  if (!refusal)
    throw new ServiceError("conflict", "The organization lets this app in already. Go back to the app and sign in again.");
  if (refusal !== "not_approved") {
    const reason = refusal === "blocked" ? "has blocked this app" : "lets no apps in";
    throw new ServiceError("conflict", `The organization ${reason}. Talk to its administrators.`);
  }
  const key = { orgId, clientId, userId: person.userId };
  if (await db().organizationAppRequest.findUnique({ where: { orgId_clientId_userId: key } })) return;
  await consumeThrottle(throttleKey("ask-for-app", person.userId), ASK_LIMIT);
  await db().$transaction(async (tx) => {
    const held = await tx.$queryRaw<unknown[]>`SELECT 1 FROM organization WHERE id = ${orgId} FOR KEY SHARE`;
    if (held.length === 0) throw notFound("Organization");
    const isFirst = (await tx.organizationAppRequest.count({ where: { orgId, clientId } })) === 0;
    const { count } = await tx.organizationAppRequest.createMany({ data: [key], skipDuplicates: true });
    if (count === 0) return;
    // The first request notifies them; later ones are only counted on the page.
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
  // Administrators who do not meet the organization's requirements could not answer, and get no mail.
  const admins = await tx.$queryRaw<{ username: string; email: string }[]>`
    SELECT u.username, u.email FROM member_standing s JOIN membership m USING (org_id, user_id) JOIN "user" u ON u.id = s.user_id
    WHERE s.org_id = ${orgId} AND s.role = 'admin' AND cardinality(s.restrictions) = 0
      AND u.disabled_at IS NULL AND u.email_verified_at IS NOT NULL
    ORDER BY m.created_at LIMIT ${LETTERS_MAX}`;
  for (const { username, email } of admins) {
    const letter = appRequestLetter({ greeted: username, asker: asker.username, organization: organization.name, app });
    await queueMail(tx, { to: email, ...letter });
  }
}
