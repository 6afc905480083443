import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { MAIL_CHANNEL } from "../../mail/mail-table.ts";

/**
 * Retries every failed letter now, after the mail server's outage. Letters given up stay so: their text was deleted, since it may have
 * contained a working link (S55).
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
