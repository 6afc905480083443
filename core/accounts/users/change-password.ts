import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { passwordChangedLetter } from "../mails/password-changed-letter.ts";
import { endedByNewPassword } from "../one-time-tokens/one-time-token.ts";
import { checkOwnPassword, notYours } from "../passwords/check-own-password.ts";
import { checkPassword } from "../passwords/check-password.ts";
import { hashPassword } from "../passwords/password-hash.ts";
import { endOtherSiteSessions } from "../sessions/end-other-site-sessions.ts";

/**
 * Changes the user's password, with the present one as proof (S113). The other sessions end (S112), and links that wait in a
 * mailbox, for a reset or another address, stop working.
 * @returns how many other sessions were ended
 * @throws ServiceError `unauthorized` on `currentPassword`, `invalid_request` on `newPassword`, `rate_limited`
 */
export async function changePassword(
  actor: Person,
  input: { currentPassword: string; newPassword: string },
  from: RequestOrigin,
): Promise<{ endedSessions: number }> {
  const user = await db().user.findUniqueOrThrow({ where: { id: actor.userId } });
  const password = checkPassword(input.newPassword, [user.username, user.fullName, user.email], "newPassword");
  await checkOwnPassword(user.id, input.currentPassword, from, "currentPassword");
  if (password === input.currentPassword) {
    throw new ServiceError("invalid_request", "Choose a password that differs from the present one.", { field: "newPassword" });
  }
  const passwordHash = await hashPassword(password);
  return db().$transaction(async (tx) => {
    // The given password must still be the current one: a reset that ended meanwhile is not undone by a person who knew the old one.
    const { count } = await tx.user.updateMany({
      where: { id: user.id, passwordHash: user.passwordHash, disabledAt: null },
      data: { passwordHash },
    });
    if (count === 0) throw notYours("currentPassword");
    await tx.oneTimeToken.deleteMany({
      where: { userId: user.id, purpose: { in: [...endedByNewPassword] }, usedAt: null },
    });
    const endedSessions = await endOtherSiteSessions(user.id, actor.sessionId, tx);
    await queueMail(tx, { to: user.email, ...passwordChangedLetter(user) });
    await recordAuditEvent(tx, { type: "user.change_password", actorId: user.id, subjectId: user.id, from });
    return { endedSessions };
  });
}
