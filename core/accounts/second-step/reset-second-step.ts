import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { secondStepResetLetter } from "../mails/second-step-letters.ts";
import { hasSecondStep } from "./has-second-step.ts";
import { organizationsAskingForSecondStep } from "./organizations-asking.ts";

/**
 * For a user who is locked out: deletes all passkeys, the authenticator app and the recovery codes, so that the password alone
 * signs in again. Sessions, tokens and memberships stay, but organizations that require a second step are closed until there is
 * one again. The operator must be sure who is asking (docs/decisions/041).
 * @throws ServiceError `not_found`, `reauthentication_required` (S113)
 */
export async function resetSecondStep(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "second_step.reset", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    const [user] = await tx.$queryRaw<{ username: string; email: string }[]>`
      SELECT username, email FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
    if (!user) throw notFound("User");
    const wasOn = await hasSecondStep(userId, tx);
    await tx.passkey.deleteMany({ where: { userId } });
    await tx.totp.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
    // A pending second step would ask for what no longer exists.
    await tx.oneTimeToken.deleteMany({
      where: { userId, purpose: { in: ["second-step", "passkey-challenge", "totp-enrolment"] } },
    });
    const event = { type: "second_step.reset", actorId: actorId(actor), subjectId: userId, from } as const;
    await recordAuditEvent(tx, event);
    if (!wasOn) return;
    for (const { id } of await organizationsAskingForSecondStep(userId, tx)) await recordAuditEvent(tx, { ...event, orgId: id });
    await queueMail(tx, { to: user.email, ...secondStepResetLetter(user) });
  });
}
