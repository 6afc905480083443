import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import { MAIL_CHANNEL } from "./mail-table.ts";

/** One letter to one address. `to` is an address that core/accounts has checked; `text` is plain text, lines end in `\n`. */
export type NewMail = { to: string; subject: string; text: string };

/**
 * Queues a letter in the transaction that gives the reason for it; the worker sends it (docs/decisions/008).
 * @returns its id
 */
export async function queueMail(db: Db, { to, subject, text }: NewMail): Promise<string> {
  // A line break in a header would let a display name add headers of its own.
  const id = newId();
  await db.mail.create({ data: { id, recipient: oneLine(to), subject: oneLine(subject), text } });
  await db.$executeRaw`select pg_notify(${MAIL_CHANNEL}, '')`; // at commit
  return id;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
