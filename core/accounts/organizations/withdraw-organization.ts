import type { Db } from "#core/db.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { heldSecretEmail } from "../emails/organization-emails.ts";
import { isWithinThrottle, throttleKey } from "../throttle.ts";

export async function withdrawOrganization(tx: Db, userId: string, orgId: string): Promise<void> {
  await tx.$executeRaw`UPDATE oauth_consent SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
  await tx.$executeRaw`UPDATE oauth_grant SET org_ids = array_remove(org_ids, ${orgId}) WHERE user_id = ${userId} AND ${orgId} = ANY(org_ids)`;
}

/** How many trusted publishers a former writer added, for the audit log. They stay, because pipelines use them (decision 045). */
export async function publishersLeft(tx: Db, userId: string, orgId: string): Promise<{ publishers?: number }> {
  const publishers = await tx.trustedPublisher.count({ where: { createdById: userId, repo: { ownerId: orgId } } });
  return publishers > 0 ? { publishers } : {};
}

/** If there are many administrators, those who joined first get the email. It names only as many apps as a person would read. */
const RECIPIENTS_MAX = 20;
const APPS_MAX = 20;
/** Repeated role changes must not fill mailboxes or the shared mail queue (S56). */
export const HELD_SECRET_EMAILS = { limit: 3, windowSeconds: 24 * 60 * 60 };

/** Call this when an administrator loses the role or the membership, or the account is disabled or deleted (decision 044). */
export async function warnOfHeldSecrets(tx: Db, userId: string, orgId: string): Promise<void> {
  const apps = await appsWithHeldSecret(tx, userId, orgId);
  if (apps.length === 0) return;
  if (!(await isWithinThrottle(tx, throttleKey("held-secret", `${userId} ${orgId}`), HELD_SECRET_EMAILS))) return;
  const [holder, organization, admins] = [
    await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, disabledAt: true } }),
    await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { name: true, fullName: true } }),
    await tx.membership.findMany({
      where: { orgId, role: "admin", userId: { not: userId }, user: { disabledAt: null, emailVerifiedAt: { not: null } } },
      orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
      take: RECIPIENTS_MAX,
      select: { user: { select: { email: true } } },
    }),
  ];
  const message = heldSecretEmail(apps, { username: holder.username, isDisabled: holder.disabledAt !== null }, organization);
  for (const { user } of admins) await queueMail(tx, { to: user.email, ...message });
}

/** Only the audit log knows who saw or set an app's secrets (docs/decisions/027), perhaps before transferring the app. */
function appsWithHeldSecret(tx: Db, userId: string, orgId: string): Promise<{ id: string; name: string }[]> {
  return tx.$queryRaw`
    SELECT a.id, a.name FROM oauth_app a
    WHERE a.bound_org_id = ${orgId} AND (EXISTS (
        SELECT FROM oauth_app_secret s
        WHERE s.app_id = a.id AND (s.expires_at IS NULL OR s.expires_at > now()) AND (a.owner_user_id = ${userId} OR EXISTS (
          SELECT FROM audit_event e
          WHERE e.actor_id = ${userId} AND e.client_id = a.client_id
            AND e.type IN ('oauth_app.create', 'oauth_app.secret_create', 'oauth_app.secret_rotate')
            AND e.created_at BETWEEN s.created_at - interval '1 minute' AND s.created_at + interval '1 minute')))
      OR (a.jwks IS NOT NULL OR a.jwks_uri IS NOT NULL) AND (a.owner_user_id = ${userId} OR ${userId} = (
        SELECT e.actor_id FROM audit_event e
        WHERE e.org_id = ${orgId} AND e.type IN ('oauth_app.keys_set', 'oauth_app.transfer') AND e.client_id = a.client_id
        ORDER BY e.created_at DESC, e.id DESC LIMIT 1)))
    ORDER BY a.created_at LIMIT ${APPS_MAX}`;
}
