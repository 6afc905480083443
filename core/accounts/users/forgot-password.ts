import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { resetPasswordLetter } from "../mails/reset-password-letter.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { consumeAddressThrottle, consumeThrottle, throttleKey } from "../throttle.ts";
import { ANSWER_MILLISECONDS } from "./sign-up.ts";

const ADDRESS_LIMIT = { limit: 20, windowSeconds: 60 * 60 };
const MAIL_LIMIT = { limit: 3, windowSeconds: 60 * 60 };

/**
 * Mails a link for replacing a forgotten password, if the address has an account; otherwise the response and its time are the
 * same (S115). The letter goes to the stored address, never to the typed one.
 * @throws ServiceError `invalid_request`, `rate_limited`
 */
export async function forgotPassword(input: { email: string }, from: RequestOrigin): Promise<void> {
  const { canonical } = parseEmailAddress(input.email);
  await consumeAddressThrottle("forgot-password", from.ip, ADDRESS_LIMIT);
  await consumeThrottle(throttleKey("forgot-password-mail", canonical), MAIL_LIMIT);
  await takeAtLeast(ANSWER_MILLISECONDS, () =>
    db().$transaction(async (tx) => {
      const user = await tx.user.findUnique({ where: { emailCanonical: canonical, disabledAt: null } });
      if (!user) return;
      const token = await issueOneTimeToken(tx, { purpose: "reset-password", data: {}, userId: user.id });
      await queueMail(tx, { to: user.email, ...resetPasswordLetter({ username: user.username, token }) });
      await recordAuditEvent(tx, { type: "user.forgot_password", subjectId: user.id, from });
    }),
  );
}
