import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { MAIL_CHANNEL } from "../../mail/mail-table.ts";

/**
 * Has every letter that failed and waits for its next attempt tried now: after the mail server's bad day. What was given up stays so:
 * its text is gone, since it may have held a link that works (S55).
 * @returns how many @throws ServiceError `forbidden`
 */
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
