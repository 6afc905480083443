import { type Actor, actorId, type Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { notFound } from "#core/errors.ts";
import { isId } from "#core/ids.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { secondStepResetEmail } from "../emails/sign-in-emails.ts";
import { requireSignInMethod } from "../identity-providers/linked-identities.ts";
import { displayText } from "../plain-text.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { hasSecondStep, organizationsRequiringSecondStep } from "./find-second-step.ts";

export async function renamePasskey(actor: Person, id: string, input: { name: string }, from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  if (!isId(id)) throw notFound("Passkey");
  const name = displayText("name", input.name, { maxCharacters: 60 });
  await changeSecondStep(actor, { message: null, from }, async (tx, record) => {
    const { count } = await tx.passkey.updateMany({ where: { id, userId }, data: { name } });
    if (count === 0) throw notFound("Passkey");
    await record({ type: "passkey.rename", data: { name } });
  });
}

/** @param closes the organizations to which the user loses access, as shown on the page */
export async function removePasskey(actor: Person, id: string, closes: readonly string[], from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  if (!isId(id)) throw notFound("Passkey");
  const passkey = await db().passkey.findFirst({ where: { id, userId }, select: { name: true } });
  if (!passkey) throw notFound("Passkey");
  const { name } = passkey;
  const message = `The passkey "${name}" was removed. It no longer signs you in.`;
  await changeSecondStep(actor, { message, closes, from }, async (tx, record) => {
    const { count } = await tx.passkey.deleteMany({ where: { id, userId } });
    if (count === 0) throw notFound("Passkey");
    await requireSignInMethod(userId, tx);
    await record({ type: "passkey.remove", data: { name } });
  });
}

export async function removeTotp(actor: Person, closes: readonly string[], from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  const message = "Your authenticator app was removed. Its codes no longer work.";
  await changeSecondStep(actor, { message, closes, from }, async (tx, record) => {
    const { count } = await tx.totp.deleteMany({ where: { userId } });
    if (count === 0) throw notFound("Authenticator app");
    await record({ type: "totp.remove" });
  });
}

/** The operator must be sure of the user's identity (docs/decisions/041, S113). */
export async function resetSecondStep(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "second_step.reset", { userId }, { what: "User" });
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "second_step.reset", { userId }, { what: "User", tx });
    const [user] = await tx.$queryRaw<{ username: string; email: string }[]>`
      SELECT username, email FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
    if (!user) throw notFound("User");
    const wasOn = await hasSecondStep(userId, tx);
    await tx.passkey.deleteMany({ where: { userId } });
    await tx.totp.deleteMany({ where: { userId } });
    await tx.recoveryCode.deleteMany({ where: { userId } });
    // A pending second step would ask for a method that no longer exists.
    await tx.oneTimeToken.deleteMany({
      where: { userId, purpose: { in: ["second-step", "passkey-challenge", "totp-enrolment"] } },
    });
    const event = { type: "second_step.reset", actorId: actorId(actor), subjectId: userId, from } as const;
    await recordAuditEvent(tx, event);
    if (!wasOn) return;
    for (const { id } of await organizationsRequiringSecondStep(userId, tx)) await recordAuditEvent(tx, { ...event, orgId: id });
    await queueMail(tx, { to: user.email, ...secondStepResetEmail(user) });
  });
}
