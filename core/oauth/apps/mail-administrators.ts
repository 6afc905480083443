import type { EmailContent } from "../../accounts/emails/compose-email.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";

/** Limited, because an organization may make every member an administrator. */
const RECIPIENTS_MAX = 20;

export async function mailAdministrators(
  tx: Db,
  orgId: string,
  write: (organization: { name: string; fullName: string }) => EmailContent,
): Promise<void> {
  const organization = await tx.organization.findUnique({
    where: { id: orgId },
    select: {
      name: true,
      fullName: true,
      memberships: {
        where: { role: "admin", user: { disabledAt: null, emailVerifiedAt: { not: null } } },
        orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
        take: RECIPIENTS_MAX,
        select: { user: { select: { email: true } } },
      },
    },
  });
  if (!organization) return;
  const text = write(organization);
  for (const { user } of organization.memberships) await queueMail(tx, { to: user.email, ...text });
}

export async function mailOperators(tx: Db, text: EmailContent): Promise<void> {
  const operators = await tx.user.findMany({
    where: { isOperator: true, disabledAt: null },
    orderBy: { createdAt: "asc" },
    take: RECIPIENTS_MAX,
    select: { email: true },
  });
  for (const { email } of operators) await queueMail(tx, { to: email, ...text });
}
