import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { invalidRequest } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { addressInUseEmail, confirmAddressEmail, emailChangeRequestedEmail } from "../emails/account-emails.ts";
import { issueOneTimeToken } from "../one-time-token.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { RESPONSE_MILLISECONDS } from "./sign-up.ts";

const CHANGE_LIMIT = { limit: 5, windowSeconds: 60 * 60 };
/** Many accounts together must not fill one mailbox. */
const MAILBOX_LIMIT = { limit: 5, windowSeconds: 60 * 60 };

/** If the new address has an account, the response is the same, and only that account's owner is told (S113, S115). */
export async function changeEmail(actor: Person, input: { email: string }, from: RequestOrigin): Promise<{ email: string }> {
  await requirePermission(actor, "user.change_email", { userId: actor.userId }, { what: "User" });
  const email = parseEmailAddress(input.email);
  const user = await db().user.findUniqueOrThrow({ where: { id: actor.userId } });
  if (user.email === email.address) throw invalidRequest("This is already your e-mail address.", "email");
  await consumeThrottle(throttleKey("change-email", user.id), CHANGE_LIMIT);
  await consumeThrottle(throttleKey("change-email-mail", email.canonical), MAILBOX_LIMIT);
  await takeAtLeast(RESPONSE_MILLISECONDS, () =>
    db().$transaction(async (tx) => {
      const other = await tx.user.findUnique({ where: { emailCanonical: email.canonical } });
      if (other && other.id !== user.id) {
        await queueMail(tx, { to: other.email, ...addressInUseEmail(other) });
      } else {
        const token = await issueOneTimeToken(tx, { purpose: "change-email", data: { email: email.address }, userId: user.id });
        await queueMail(tx, { to: email.address, ...confirmAddressEmail({ username: user.username, token }) });
      }
      await queueMail(tx, {
        to: user.email,
        ...emailChangeRequestedEmail({ username: user.username, newEmail: email.address }),
      });
      await recordAuditEvent(tx, {
        type: "user.request_email_change",
        actorId: user.id,
        subjectId: user.id,
        data: { to: email.address },
        from,
      });
    }),
  );
  return { email: email.address };
}
