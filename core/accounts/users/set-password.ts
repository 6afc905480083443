import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { passwordSetLetter } from "../mails/password-set-letter.ts";
import { checkPassword } from "../passwords/check-password.ts";
import { hashPassword } from "../passwords/password-hash.ts";

/**
 * Sets the first password of an account that was created with a provider. Replacing one requires the present one
 * (`changePassword`).
 * @throws ServiceError `reauthentication_required` (S113), `invalid_request` on `newPassword`, `conflict` if there is one
 */
export async function setPassword(actor: Person, input: { newPassword: string }, from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  await requirePermission(actor, "user.set_password", { userId }, { what: "User" });
  const user = await db().user.findUniqueOrThrow({ where: { id: userId } });
  const password = checkPassword(input.newPassword, [user.username, user.fullName, user.email], "newPassword");
  const passwordHash = await hashPassword(password);
  await db().$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({ where: { id: userId, passwordHash: null }, data: { passwordHash } });
    if (count === 0) throw new ServiceError("conflict", "You have a password already. Change it with the present one.");
    await queueMail(tx, { to: user.email, ...passwordSetLetter(user) });
    await recordAuditEvent(tx, { type: "user.set_password", actorId: userId, subjectId: userId, from });
  });
}
