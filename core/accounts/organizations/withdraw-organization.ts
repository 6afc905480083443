import type { Db } from "#core/db.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { heldSecretLetter } from "../mails/organization-letters.ts";
import { isWithinThrottle, throttleKey } from "../throttle.ts";

/** Removes an organization from a user's grants, so that rejoining does not revive them; token use checks membership anyway. */
export async function withdrawOrganization(tx: Db, userId: string, orgId: string): Promise<void> {
  await tx.$executeRaw`UPDATE oauth_consent SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
  await tx.$executeRaw`UPDATE oauth_grant SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
}

/** If there are many administrators, those who joined first get the email. It names no more apps than a person would read. */
const LETTERS_MAX = 20;
const APPS_MAX = 20;
/** The limit for one former administrator: changing a role again and again must not fill mailboxes or the shared mail queue (S56). */
export const HELD_SECRET_LETTERS = { limit: 3, windowSeconds: 24 * 60 * 60 };

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
  if (!(await isWithinThrottle(tx, throttleKey("held-secret", `${userId} ${orgId}`), HELD_SECRET_LETTERS))) return;
  const [owner, organization, admins] = [
    await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true } }),
    await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true, fullName: true } }),
    await tx.membership.findMany({
      where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null, emailVerifiedAt: { not: null } } },
      orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
      take: LETTERS_MAX,
      select: { user: { select: { email: true } } },
    }),
  ];
  const letter = heldSecretLetter(apps, owner.username, organization);
  for (const { user } of admins) await queueMail(tx, { to: user.email, ...letter });
}
