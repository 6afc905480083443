import type { Db } from "#core/db.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { heldSecretEmail } from "../emails/organization-emails.ts";
import { isWithinThrottle, throttleKey } from "../throttle.ts";

/** Removes an organization from a user's grants, so that rejoining does not restore it. Each use of a token checks the membership anyway. */
export async function withdrawOrganization(tx: Db, userId: string, orgId: string): Promise<void> {
  await tx.$executeRaw`UPDATE oauth_consent SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
  await tx.$executeRaw`UPDATE oauth_grant SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
}

/** If there are many administrators, those who joined first get the email. It names only as many apps as a person would read. */
const RECIPIENTS_MAX = 20;
const APPS_MAX = 20;
/** The limit for one former administrator: changing a role again and again must not fill mailboxes or the shared mail queue (S56). */
export const HELD_SECRET_EMAILS = { limit: 3, windowSeconds: 24 * 60 * 60 };

/**
 * Tells an organization's administrators that a former administrator owns apps bound to it, and knows their secrets: from now
 * on an outsider has them (decision 044). Call it once the role or the membership is gone.
 */
export async function warnOfHeldSecrets(tx: Db, userId: string, orgId: string): Promise<void> {
  const apps = await tx.oAuthApp.findMany({
    where: { ownerUserId: userId, boundOrgId: orgId, secrets: { some: {} } },
    select: { id: true, name: true },
    orderBy: { createdAt: "asc" },
    take: APPS_MAX,
  });
  if (apps.length === 0) return;
  if (!(await isWithinThrottle(tx, throttleKey("held-secret", `${userId} ${orgId}`), HELD_SECRET_EMAILS))) return;
  const [owner, organization, admins] = [
    await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true } }),
    await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true, fullName: true } }),
    await tx.membership.findMany({
      where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null, emailVerifiedAt: { not: null } } },
      orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
      take: RECIPIENTS_MAX,
      select: { user: { select: { email: true } } },
    }),
  ];
  const message = heldSecretEmail(apps, owner.username, organization);
  for (const { user } of admins) await queueMail(tx, { to: user.email, ...message });
}
