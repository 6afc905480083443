import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import type { EmailAddress } from "../email-address.ts";
import { localPath } from "../local-path.ts";
import { accountExistsLetter } from "../mails/account-exists-letter.ts";
import { signUpLetter } from "../mails/sign-up-letter.ts";
import { issueOneTimeToken } from "../one-time-tokens/issue-one-time-token.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { consumeAddressThrottle, consumeThrottle, throttleKey } from "../throttle.ts";
import { type NewUserInput, parseNewUser } from "./new-user-fields.ts";

/** The minimum time of a response, whether or not the address has an account. */
export const ANSWER_MILLISECONDS = 300;

const ADDRESS_LIMIT = { limit: 30, windowSeconds: 60 * 60 };
const MAIL_LIMIT = { limit: 5, windowSeconds: 60 * 60 };

/**
 * Requests an account. Nothing is created yet: the input is stored with the mailed link, and using the link creates the account
 * (`verifyEmail`). So neither the response, nor a later sign-in, nor a taken username reveals that an address already has an
 * account (S115), and nobody can occupy an address that is not theirs. The owner of a known address gets a mail saying that
 * they have an account.
 * @param returnTo the path of ours where the user was going
 * @throws ServiceError `invalid_request`, `conflict` (username taken; usernames are public), `rate_limited`
 */
export async function signUp(input: NewUserInput & { returnTo?: string }, from: RequestOrigin): Promise<{ email: string }> {
  const { handle, email, fullName, password } = parseNewUser(input);
  await consumeAddressThrottle("sign-up", from.ip, ADDRESS_LIMIT);
  if (await db().handle.findUnique({ where: { handle: handle.canonical } })) {
    throw new ServiceError("conflict", `The name ${handle.spelled} is taken. Choose another.`, { field: "username" });
  }
  await consumeThrottle(throttleKey("sign-up-mail", email.canonical), MAIL_LIMIT);
  await takeAtLeast(ANSWER_MILLISECONDS, async () => {
    const passwordHash = await hashPassword(password);
    await db().$transaction(async (tx) => {
      if (await tellOwner(tx, email)) return;
      const pending = {
        username: handle.spelled,
        fullName,
        email: email.address,
        passwordHash,
        returnTo: localPath(input.returnTo),
      };
      const token = await issueOneTimeToken(tx, { purpose: "sign-up", data: pending, subject: email.canonical });
      await queueMail(tx, { to: email.address, ...signUpLetter({ username: handle.spelled, token }) });
    });
  });
  return { email: email.address };
}

/** @returns whether the address has an account, whose owner was notified */
async function tellOwner(tx: Db, { canonical }: EmailAddress): Promise<boolean> {
  const owner = await tx.user.findUnique({ where: { emailCanonical: canonical }, select: { username: true, email: true } });
  if (!owner) return false;
  await queueMail(tx, { to: owner.email, ...accountExistsLetter(owner) });
  return true;
}
