import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { parseEmailAddress } from "../../accounts/email-address.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";

/**
 * Queues a letter that takes the same way as all others. An operator gets it at their own address; the command names one.
 * @returns the letter's id, by which it can be followed
 * @throws ServiceError `forbidden`, `invalid_request`
 */
export async function sendTestLetter(
  actor: Actor,
  to: string | undefined,
  from: RequestOrigin,
): Promise<{ id: string; to: string }> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const recipient = await recipientOf(actor, to);
  const { BRAND_NAME, ORIGIN } = env();
  const text = `This is a test: mail of ${BRAND_NAME} at ${ORIGIN} arrives.\n\nNothing needs to be done.\n`;
  const id = await db().$transaction(async (tx) => {
    const letter = await queueMail(tx, { to: recipient, subject: `A test of mail from ${BRAND_NAME}`, text });
    await recordAuditEvent(tx, { type: "mail.test", actorId: actorId(actor), data: { to: recipient }, from });
    return letter;
  });
  return { id, to: recipient };
}

async function recipientOf(actor: Actor, to: string | undefined): Promise<string> {
  if (actor.kind === "command" && to) return parseEmailAddress(to, "to").address;
  const id = actorId(actor);
  const user = id ? await db().user.findUnique({ where: { id }, select: { email: true } }) : null;
  if (!user) throw new ServiceError("invalid_request", "Name the address that the letter is to go to.", { field: "to" });
  return user.email;
}
