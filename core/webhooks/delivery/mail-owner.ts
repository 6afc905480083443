import type { Letter } from "../../accounts/mails/letter.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";

/** The most recipients of a letter: an organization may make everybody an administrator. */
const RECIPIENTS_MAX = 20;

/**
 * Queues a letter to a webhook's owner: a person, or the administrators of an organization. Only verified addresses get one.
 * @param write gets the name to greet and the path of the owner's webhooks
 */
export async function mailOwner(
  tx: Db,
  { id, kind }: { id: string; kind: "user" | "organization" },
  write: (greeted: string, settings: string) => Letter,
): Promise<void> {
  const isReachable = { disabledAt: null, emailVerifiedAt: { not: null } };
  if (kind === "user") {
    const user = await tx.user.findFirst({ where: { id, ...isReachable }, select: { username: true, email: true } });
    if (user) await queueMail(tx, { to: user.email, ...write(user.username, "/settings/webhooks") });
    return;
  }
  const organization = await tx.organization.findUnique({
    where: { id },
    select: {
      name: true,
      memberships: {
        where: { role: "admin", user: isReachable },
        orderBy: [{ createdAt: "asc" }, { userId: "asc" }],
        take: RECIPIENTS_MAX,
        select: { user: { select: { email: true } } },
      },
    },
  });
  if (!organization) return;
  const letter = write("there", `/organizations/${encodeURIComponent(organization.name)}/settings/webhooks`);
  for (const { user } of organization.memberships) await queueMail(tx, { to: user.email, ...letter });
}
