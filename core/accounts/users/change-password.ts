import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { conflict, invalidRequest } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { loginAtAddressThrottle, loginThrottle, ownPasswordThrottle } from "../count-password-attempt.ts";
import { parseEmailAddress } from "../email-address.ts";
import { passwordChangedEmail, passwordSetEmail, resetPasswordEmail } from "../emails/account-emails.ts";
import {
  deleteTokensOfOldPassword,
  findOneTimeToken,
  issueOneTimeToken,
  linkIsGone,
  useOneTimeToken,
} from "../one-time-token.ts";
import { checkOwnPassword, wrongPassword } from "../passwords/check-own-password.ts";
import { checkPassword } from "../passwords/check-password.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { endAllSiteSessions, endOtherSiteSessions } from "../sessions/end-site-session.ts";
import { takeAtLeast } from "../take-at-least.ts";
import { clearThrottle, consumeAddressThrottle, consumeThrottle, throttleKey } from "../throttle.ts";
import { RESPONSE_MILLISECONDS } from "./sign-up.ts";

/** See S113, S112. Returns how many other sessions ended. */
export async function changePassword(
  actor: Person,
  input: { currentPassword: string; newPassword: string },
  from: RequestOrigin,
): Promise<{ endedSessions: number }> {
  const user = await db().user.findUniqueOrThrow({ where: { id: actor.userId } });
  const password = checkPassword(input.newPassword, [user.username, user.fullName, user.email], "newPassword");
  await checkOwnPassword(user.id, input.currentPassword, from, "currentPassword");
  if (password === input.currentPassword) {
    throw invalidRequest("Choose a password that differs from your current one.", "newPassword");
  }
  const passwordHash = await hashPassword(password);
  return db().$transaction(async (tx) => {
    // A person who knew the old password must not undo a reset that happened meanwhile.
    const { count } = await tx.user.updateMany({
      where: { id: user.id, passwordHash: user.passwordHash, disabledAt: null },
      data: { passwordHash },
    });
    if (count === 0) throw wrongPassword("currentPassword");
    await deleteTokensOfOldPassword(tx, user.id);
    const endedSessions = await endOtherSiteSessions(user.id, actor.sessionId, tx);
    await queueMail(tx, { to: user.email, ...passwordChangedEmail(user) });
    await recordAuditEvent(tx, { type: "user.change_password", actorId: user.id, subjectId: user.id, from });
    return { endedSessions };
  });
}

/** For an account that was created with a provider (S113). */
export async function setPassword(actor: Person, input: { newPassword: string }, from: RequestOrigin): Promise<void> {
  const { userId, sessionId } = actor;
  await requirePermission(actor, "user.set_password", { userId }, { what: "User" });
  const user = await db().user.findUniqueOrThrow({ where: { id: userId } });
  const password = checkPassword(input.newPassword, [user.username, user.fullName, user.email], "newPassword");
  const passwordHash = await hashPassword(password);
  await db().$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({ where: { id: userId, passwordHash: null }, data: { passwordHash } });
    if (count === 0) throw conflict("You already have a password. To change it, enter your current password.");
    await deleteTokensOfOldPassword(tx, userId);
    await endOtherSiteSessions(userId, sessionId, tx);
    await queueMail(tx, { to: user.email, ...passwordSetEmail(user) });
    await recordAuditEvent(tx, { type: "user.set_password", actorId: userId, subjectId: userId, from });
  });
}

const ADDRESS_LIMIT = { limit: 20, windowSeconds: 60 * 60 };
const MAIL_LIMIT = { limit: 3, windowSeconds: 60 * 60 };

/** Without an account, the response and its time are the same (S115). The email goes to the stored spelling of the address. */
export async function forgotPassword(input: { email: string }, from: RequestOrigin): Promise<void> {
  const { canonical } = parseEmailAddress(input.email);
  await consumeAddressThrottle("forgot-password", from.ip, ADDRESS_LIMIT);
  await consumeThrottle(throttleKey("forgot-password-mail", canonical), MAIL_LIMIT);
  await takeAtLeast(RESPONSE_MILLISECONDS, () =>
    db().$transaction(async (tx) => {
      const user = await lockByAddress(tx, canonical);
      if (!user) return;
      const token = await issueOneTimeToken(tx, { purpose: "reset-password", data: {}, userId: user.id });
      await queueMail(tx, { to: user.email, ...resetPasswordEmail({ username: user.username, token }) });
      await recordAuditEvent(tx, { type: "user.forgot_password", subjectId: user.id, from });
    }),
  );
}

/** A concurrent change of the address, which deletes the links in the former mailbox, waits for this lock. */
async function lockByAddress(tx: Db, canonical: string): Promise<{ id: string; username: string; email: string } | undefined> {
  const [user] = await tx.$queryRaw<{ id: string; username: string; email: string }[]>`
    SELECT id, username, email FROM "user" WHERE email_canonical = ${canonical} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  return user;
}

/** The second step stays, because a person who reads the user's mail has only one of the two steps (S112). */
export async function resetPassword(token: string, input: { password: string }, from: RequestOrigin): Promise<void> {
  const link = await findOneTimeToken(token, "reset-password");
  const user = link?.userId ? await db().user.findUnique({ where: { id: link.userId, disabledAt: null } }) : null;
  if (!user) throw linkIsGone();
  const password = checkPassword(input.password, [user.username, user.fullName, user.email]);
  const passwordHash = await hashPassword(password);
  await db().$transaction(async (tx) => {
    await useOneTimeToken(tx, token, "reset-password");
    await tx.user.update({ where: { id: user.id }, data: { passwordHash } });
    await deleteTokensOfOldPassword(tx, user.id);
    await endAllSiteSessions(user.id, tx);
    await queueMail(tx, { to: user.email, ...passwordChangedEmail(user) });
    await recordAuditEvent(tx, { type: "user.reset_password", actorId: user.id, subjectId: user.id, from });
  });
  const logins = [user.username.toLowerCase(), user.emailCanonical];
  await clearThrottle(
    ...logins.flatMap((login) => [loginThrottle(login), loginAtAddressThrottle(login, from)]),
    ownPasswordThrottle(user.id),
  );
}
