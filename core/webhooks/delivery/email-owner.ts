import { composeEmail, type EmailContent, link } from "../../accounts/emails/compose-email.ts";
import { isWithinThrottle, throttleKey } from "../../accounts/throttle.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import type { DisabledReason } from "../vocabulary.ts";

/** An organization may make everybody an administrator. */
const RECIPIENTS_MAX = 20;
/** Owners can enable failing webhooks again and again. */
export const EMAILS_TO_OWNER = { limit: 20, windowSeconds: 60 * 60 };

/**
 * Only verified addresses get the email.
 * @param write gets the name to greet and the path of the owner's webhooks
 */
export async function emailOwner(
  tx: Db,
  { id, kind }: { id: string; kind: "user" | "organization" },
  write: (recipientName: string, settings: string) => EmailContent,
): Promise<void> {
  if (!(await isWithinThrottle(tx, throttleKey("webhook-letter", id), EMAILS_TO_OWNER))) return;
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

type Disabled = {
  webhookId: string;
  reason: Exclude<DisabledReason, "owner">;
  target: string | null;
  lastFailure: string | null;
};

export function webhookDisabledEmail(disabled: Disabled, recipientName: string, settings: string): EmailContent {
  const { webhookId, reason, target, lastFailure } = disabled;
  const why = {
    gone: "it responded with 410 Gone",
    failing: `every attempt in the last five days failed. The last one: ${lastFailure ?? "no response"}`,
    grant_ended: "the app or token that created or last changed the webhook no longer has access",
  }[reason];
  return composeEmail(`${webhookTo(target)} is disabled`, recipientName, [
    `${target === null ? "It no longer runs jobs" : `Nothing is sent to ${target} anymore`}, because ${why}.`,
    reason === "grant_ended"
      ? `${KEPT} To keep using the webhook with your own permissions, check ${target === null ? "what it runs" : "where it sends events"}, then enable it here:`
      : `${KEPT} When the ${target === null ? "job" : "target"} works again, enable the webhook here. Waiting deliveries then continue, and you can replay failed ones:`,
    link(`${settings}/${webhookId}`),
  ]);
}

export function webhookRecoveredEmail(
  { webhookId, target }: Pick<Disabled, "webhookId" | "target">,
  recipientName: string,
  settings: string,
): EmailContent {
  return composeEmail(`${webhookTo(target)} works again`, recipientName, [
    `The webhook was enabled again, and ${target === null ? "its job" : `a delivery to ${target}`} has succeeded since then. You can replay earlier failed deliveries from its activity:`,
    link(`${settings}/${webhookId}`),
  ]);
}

const KEPT = "Waiting deliveries are kept; events that happen while the webhook is disabled do not trigger it.";
const webhookTo = (target: string | null): string =>
  target === null ? "Your webhook that runs a job" : `Your webhook to ${target}`;
