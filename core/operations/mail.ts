import { type Actor, actorId } from "../access/actor.ts";
import { requirePermission } from "../access/may.ts";
import { parseEmailAddress } from "../accounts/email-address.ts";
import { recordAuditEvent } from "../audit/record-audit-event.ts";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { db } from "../db.ts";
import { env } from "../env.ts";
import { invalidRequest } from "../errors.ts";
import { isId } from "../ids.ts";
import { MAIL_CHANNEL } from "../mail/mail-table.ts";
import { queueMail } from "../mail/queue-mail.ts";

export type FailingEmail = {
  id: string;
  recipient: string;
  subject: string;
  createdAt: Date;
  attempts: number;
  lastError: string | null;
  dueAt: Date | null;
};

export type MailState = {
  /** The password is left out. Null if emails are kept instead of sent. */
  transport: { server: string; user: string | null; isSecure: boolean } | null;
  from: string;
  waiting: number;
  failing: FailingEmail[];
};

export type EmailState = { state: "waiting" | "sent" | "failed"; recipient: string; lastError: string | null };

const FAILING_MAX = 50;

export async function readMailState(actor: Actor): Promise<MailState> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const [waiting, open, failed] = await Promise.all([
    db().mail.count({ where: { sentAt: null, failedAt: null } }),
    db().mail.findMany({
      where: { sentAt: null, failedAt: null, lastError: { not: null } },
      orderBy: { createdAt: "desc" },
      take: FAILING_MAX,
    }),
    db().mail.findMany({ where: { failedAt: { not: null } }, orderBy: { failedAt: "desc" }, take: FAILING_MAX }),
  ]);
  const failing = [...open, ...failed]
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .slice(0, FAILING_MAX)
    .map(({ id, recipient, subject, createdAt, attempts, lastError, failedAt, dueAt }) => ({
      ...{ id, recipient, subject, createdAt, attempts, lastError },
      dueAt: failedAt ? null : dueAt,
    }));
  return { ...describeTransport(), waiting, failing };
}

function describeTransport(): Pick<MailState, "transport" | "from"> {
  const { SMTP_URL, MAIL_FROM, BRAND_NAME, ORIGIN } = env();
  const from = MAIL_FROM ?? `${BRAND_NAME} <no-reply@${new URL(ORIGIN).hostname}>`;
  if (!SMTP_URL) return { transport: null, from };
  const { host, username, protocol } = new URL(SMTP_URL);
  return { transport: { server: host, user: decodeURIComponent(username) || null, isSecure: protocol === "smtps:" }, from };
}

export async function readEmailState(actor: Actor, emailId: string): Promise<EmailState | undefined> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const message = isId(emailId) ? await db().mail.findUnique({ where: { id: emailId } }) : null;
  if (!message) return undefined;
  const { recipient, lastError, sentAt, failedAt } = message;
  return { state: sentAt ? "sent" : failedAt ? "failed" : "waiting", recipient, lastError };
}

/** Does not send emails that were given up, whose text was deleted because it may contain a working link (S55). */
export async function retryMail(actor: Actor): Promise<number> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  return db().$transaction(async (tx) => {
    const count = await tx.$executeRaw`
      UPDATE mail SET due_at = now()
       WHERE sent_at IS NULL AND failed_at IS NULL AND last_error IS NOT NULL AND due_at > now()
         AND (claimed_until IS NULL OR claimed_until <= now())`;
    await tx.$executeRaw`SELECT pg_notify(${MAIL_CHANNEL}, '')`;
    return count;
  });
}

export async function sendTestEmail(
  actor: Actor,
  to: string | undefined,
  from: RequestOrigin,
): Promise<{ id: string; to: string }> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const recipient = await recipientOf(actor, to);
  const { BRAND_NAME, ORIGIN } = env();
  const text = `This is a test. It shows that e-mail from ${BRAND_NAME} at ${ORIGIN} arrives.\n\nYou do not need to do anything.\n`;
  const id = await db().$transaction(async (tx) => {
    const message = await queueMail(tx, { to: recipient, subject: `Test e-mail from ${BRAND_NAME}`, text });
    await recordAuditEvent(tx, { type: "mail.test", actor, data: { to: recipient }, from });
    return message;
  });
  return { id, to: recipient };
}

async function recipientOf(actor: Actor, to: string | undefined): Promise<string> {
  if (actor.kind === "command" && to) return parseEmailAddress(to, "to").address;
  const id = actorId(actor);
  const user = id ? await db().user.findUnique({ where: { id }, select: { email: true } }) : null;
  if (!user) throw invalidRequest("Enter the address of the recipient.", "to");
  return user.email;
}
