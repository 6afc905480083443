import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { conflict } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { type EmailAddress, parseEmailAddress } from "../email-address.ts";
import { accountExistsEmail, signUpEmail } from "../emails/account-emails.ts";
import { localPath } from "../local-path.ts";
import { issueOneTimeToken, type OneTimeTokenData } from "../one-time-token.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { consumeAddressThrottle, consumeThrottle, throttleKey } from "../throttle.ts";
import { type NewUserInput, parseNewUser } from "./create-user.ts";
import { requireSignUp } from "./sign-up-policy.ts";

export const RESPONSE_MILLISECONDS = 300;

const ADDRESS_LIMIT = { limit: 30, windowSeconds: 60 * 60 };
const MAIL_LIMIT = { limit: 5, windowSeconds: 60 * 60 };

/** Creates no account yet, so that no response reveals an existing account (S115). `returnTo` is a path on this service. */
export async function signUp(input: NewUserInput & { returnTo?: string }, from: RequestOrigin): Promise<{ email: string }> {
  const { handle, email, fullName, password } = await parseNewUser(input);
  await consumeAddressThrottle("sign-up", from.ip, ADDRESS_LIMIT);
  await requireSignUp(email, input.returnTo);
  if (await db().handle.findUnique({ where: { handle: handle.canonical } })) {
    throw conflict(`The name ${handle.spelled} is taken. Choose another.`, "username");
  }
  await consumeThrottle(throttleKey("sign-up-mail", email.canonical), MAIL_LIMIT);
  await takeAtLeast(RESPONSE_MILLISECONDS, async () => {
    const passwordHash = await hashPassword(password);
    await db().$transaction(async (tx) => {
      if (await notifyOwner(tx, email)) return;
      const pending = {
        username: handle.spelled,
        fullName,
        email: email.address,
        passwordHash,
        returnTo: localPath(input.returnTo),
      };
      const token = await issueOneTimeToken(tx, { purpose: "sign-up", data: pending, subject: email.canonical });
      await queueMail(tx, { to: email.address, ...signUpEmail({ username: handle.spelled, token }) });
    });
  });
  return { email: email.address };
}

async function notifyOwner(tx: Db, { canonical }: EmailAddress): Promise<boolean> {
  const owner = await tx.user.findUnique({ where: { emailCanonical: canonical }, select: { username: true, email: true } });
  if (!owner) return false;
  await queueMail(tx, { to: owner.email, ...accountExistsEmail(owner) });
  return true;
}

const RESENDS_OF_ADDRESS = { limit: 20, windowSeconds: 60 * 60 };
const RESENDS_OF_MAILBOX = { limit: 3, windowSeconds: 60 * 60 };

/** The response does not reveal whether a sign-up is pending. */
export async function resendSignUpMail(input: { email: string }, from: RequestOrigin): Promise<void> {
  const email = parseEmailAddress(input.email);
  await consumeAddressThrottle("resend-sign-up", from.ip, RESENDS_OF_ADDRESS);
  await consumeThrottle(throttleKey("resend-sign-up-mail", email.canonical), RESENDS_OF_MAILBOX);
  await takeAtLeast(RESPONSE_MILLISECONDS, () =>
    db().$transaction(async (tx) => {
      const waiting = await tx.oneTimeToken.findFirst({
        where: { purpose: "sign-up", subject: email.canonical, usedAt: null, expiresAt: { gt: new Date() } },
        orderBy: { createdAt: "desc" },
        select: { tokenHash: true, data: true },
      });
      if (!waiting) return;
      const data = waiting.data as OneTimeTokenData["sign-up"];
      await tx.oneTimeToken.deleteMany({ where: { tokenHash: waiting.tokenHash } });
      const token = await issueOneTimeToken(tx, { purpose: "sign-up", data, subject: email.canonical });
      await queueMail(tx, { to: data.email, ...signUpEmail({ username: data.username, token }) });
    }),
  );
}
