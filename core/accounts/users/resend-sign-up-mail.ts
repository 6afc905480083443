import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { parseEmailAddress } from "../email-address.ts";
import { signUpLetter } from "../mails/sign-up-letter.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import type { OneTimeTokenData } from "../one-time-tokens/one-time-token.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { consumeAddressThrottle, consumeThrottle, throttleKey } from "../throttle.ts";
import { ANSWER_MILLISECONDS } from "./sign-up.ts";

const ADDRESS_LIMIT = { limit: 20, windowSeconds: 60 * 60 };
const MAIL_LIMIT = { limit: 3, windowSeconds: 60 * 60 };

/**
 * Sends the link of a sign-up again, as a new one that replaces the old. The response does not reveal whether a sign-up is
 * waiting.
 * @throws ServiceError `invalid_request`, `rate_limited`
 */
export async function resendSignUpMail(input: { email: string }, from: RequestOrigin): Promise<void> {
  const email = parseEmailAddress(input.email);
  await consumeAddressThrottle("resend-sign-up", from.ip, ADDRESS_LIMIT);
  await consumeThrottle(throttleKey("resend-sign-up-mail", email.canonical), MAIL_LIMIT);
  await takeAtLeast(ANSWER_MILLISECONDS, () =>
    db().$transaction(async (tx) => {
      const waiting = await tx.oneTimeToken.findFirst({
        where: { purpose: "sign-up", subject: email.canonical, usedAt: null, expiresAt: { gt: new Date() } },
        orderBy: { createdAt: "desc" },
        select: { data: true },
      });
      if (!waiting) return;
      const data = waiting.data as OneTimeTokenData["sign-up"];
      const token = await issueOneTimeToken(tx, { purpose: "sign-up", data, subject: email.canonical });
      await queueMail(tx, { to: data.email, ...signUpLetter({ username: data.username, token }) });
    }),
  );
}
