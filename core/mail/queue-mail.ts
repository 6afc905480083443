import type { Db } from "../db.ts";
import { env } from "../env.ts";
import { newId } from "../ids.ts";
import { MAIL_CHANNEL } from "./mail-table.ts";

/** Without SMTP_URL, only the operator can read emails, and pages must not claim otherwise. */
export const isMailSent = (): boolean => env().SMTP_URL !== undefined;

/** core/accounts has checked `to`. Lines of `text` end in `\n`. */
type NewMail = { to: string; subject: string; text: string };

/** Call this in the transaction that is the reason for the email (docs/decisions/008). */
export async function queueMail(db: Db, { to, subject, text }: NewMail): Promise<string> {
  const id = newId();
  // A display name with a line break could add headers.
  await db.mail.create({ data: { id, recipient: oneLine(to), subject: oneLine(subject), text } });
  await db.$executeRaw`select pg_notify(${MAIL_CHANNEL}, '')`; // at commit
  return id;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
