import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { heldSecretLetter } from "../mails/held-secret-letter.ts";

/** If there are many administrators, the earliest get the letter; and no more apps than a person would look at. */
const LETTERS_MAX = 20;
const APPS_MAX = 20;

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
  for (const { user } of admins) {
    for (const app of apps) await queueMail(tx, { to: user.email, ...heldSecretLetter(app, owner.username, organization) });
  }
}
