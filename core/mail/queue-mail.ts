import type { Db } from "../db.ts";
import { env } from "../env.ts";
import { newId } from "../ids.ts";
import { MAIL_CHANNEL } from "./mail-table.ts";

/** Whether mail reaches anybody: without SMTP_URL it is kept, and only the operator can read it. Pages must not claim otherwise. */
export const isMailSent = (): boolean => env().SMTP_URL !== undefined;

/** One email to one address. `to` has been checked by core/accounts; `text` is plain text with lines that end in `\n`. */
type NewMail = { to: string; subject: string; text: string };

/**
 * Queues an email in the transaction that is the reason for it; the worker sends it (docs/decisions/008).
 * @returns its id
 */
export async function queueMail(db: Db, { to, subject, text }: NewMail): Promise<string> {
  // With a line break in a header, a display name could add headers of its own.
  const id = newId();
  await db.mail.create({ data: { id, recipient: oneLine(to), subject: oneLine(subject), text } });
  await db.$executeRaw`select pg_notify(${MAIL_CHANNEL}, '')`; // at commit
  return id;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
