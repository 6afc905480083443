import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { loginAtAddressThrottle, loginThrottle, ownPasswordThrottle } from "../count-password-attempt.ts";
import { passwordChangedLetter } from "../mails/password-changed-letter.ts";
import { findOneTimeToken } from "../one-time-tokens/find-one-time-token.ts";
import { endedByNewPassword, linkIsGone } from "../one-time-tokens/one-time-token.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import { checkPassword } from "../passwords/check-password.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { endAllSiteSessions } from "../sessions/end-all-site-sessions.ts";
import { clearThrottle } from "../throttle.ts";

/**
 * Uses the link of `forgotPassword`. All sessions end (S112), a pending change of e-mail address is cancelled, and sign-in is
 * possible again if too many wrong passwords had blocked it. A second step stays, and is required at the next sign-in: whoever
 * reads a user's mail has one of their steps, not both.
 * @throws ServiceError `gone`; `invalid_request` on `password`, after which the link still works
 */
export async function resetPassword(token: string, input: { password: string }, from: RequestOrigin): Promise<void> {
  const link = await findOneTimeToken(token, "reset-password");
  const user = link?.userId ? await db().user.findUnique({ where: { id: link.userId, disabledAt: null } }) : null;
  if (!user) throw linkIsGone();
  const password = checkPassword(input.password, [user.username, user.fullName, user.email]);
  const passwordHash = await hashPassword(password);
  await db().$transaction(async (tx) => {
    await useOneTimeToken(tx, token, "reset-password");
    await tx.user.update({ where: { id: user.id }, data: { passwordHash } });
    await tx.oneTimeToken.deleteMany({
      where: { userId: user.id, purpose: { in: [...endedByNewPassword] }, usedAt: null },
    });
    await endAllSiteSessions(user.id, tx);
    await queueMail(tx, { to: user.email, ...passwordChangedLetter(user) });
    await recordAuditEvent(tx, { type: "user.reset_password", actorId: user.id, subjectId: user.id, from });
  });
  const logins = [user.username.toLowerCase(), user.emailCanonical];
  await clearThrottle(
    ...logins.flatMap((login) => [loginThrottle(login), loginAtAddressThrottle(login, from)]),
    ownPasswordThrottle(user.id),
  );
}
