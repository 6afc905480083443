import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { secondStepChangedLetter } from "../mails/second-step-letters.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { lockLiveUser } from "../users/lock-live-user.ts";
import { hasSecondStep } from "./has-second-step.ts";
import { organizationsAskingForSecondStep, requireKnownClosing } from "./organizations-asking.ts";

export type SecondStepChange<T> = {
  /** What the owner of the account is written, as sentences; null for what is no security matter, such as a name. */
  letter: string | null;
  /** The organizations that the person was told this closes to them, by id. */
  closes?: readonly string[];
  work: (tx: Db) => Promise<T>;
};

/** Each is a letter, and nobody moves house that often. */
const CHANGE_LIMIT = { limit: 60, windowSeconds: 60 * 60 };

/**
 * The one frame of every change of how somebody signs in: recent authentication (S113), one change at a time for each person, what
 * turns the second step on or off in the audit log (S116), a letter to the owner, and nothing taken away unawares that an
 * organization asks for.
 * @throws ServiceError `reauthentication_required`; `rate_limited`; `conflict` when an organization would close and the person was not told
 */
export async function changeSecondStep<T>(actor: Person, change: SecondStepChange<T>, from: RequestOrigin): Promise<T> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  await consumeThrottle(throttleKey("second-step-change", userId), CHANGE_LIMIT);
  return db().$transaction(async (tx) => {
    // Two removals at once would each take the other's for the last one left.
    await lockLiveUser(tx, userId);
    const wasOn = await hasSecondStep(userId, tx);
    const done = await change.work(tx);
    const isOn = await hasSecondStep(userId, tx);
    if (wasOn !== isOn) await noteTurn(tx, userId, isOn, change.closes ?? [], from);
    if (change.letter) {
      const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
      await queueMail(tx, { to: user.email, ...secondStepChangedLetter({ username: user.username, what: change.letter }) });
    }
    return done;
  });
}

async function noteTurn(tx: Db, userId: string, isOn: boolean, closes: readonly string[], from: RequestOrigin): Promise<void> {
  const asking = await organizationsAskingForSecondStep(userId, tx);
  if (!isOn) {
    requireKnownClosing(asking, closes);
    // They get one through the second step, and there is none any more.
    await tx.recoveryCode.deleteMany({ where: { userId } });
  }
  const type = isOn ? "second_step.on" : "second_step.off";
  const event = { type, actorId: userId, subjectId: userId, from } as const;
  await recordAuditEvent(tx, event);
  // Their administrators asked for it, so they read of it too.
  for (const { id } of asking) await recordAuditEvent(tx, { ...event, orgId: id });
}
