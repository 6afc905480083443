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
  /** The letter to the account's owner, as sentences; null if it is not a security matter, such as a name. */
  letter: string | null;
  /** The ids of the organizations that the user was told this would close to them. */
  closes?: readonly string[];
  work: (tx: Db) => Promise<T>;
};

/** Each sends a letter, and nobody needs more. */
const CHANGE_LIMIT = { limit: 60, windowSeconds: 60 * 60 };

/**
 * Common to every change of how a user signs in: recent authentication (S113), one change at a time for each user, an audit
 * entry if the second step is turned on or off (S116), a letter to the owner, and a warning before removing what an
 * organization requires.
 * @throws ServiceError `reauthentication_required`; `rate_limited`; `conflict` if an organization would be closed and the user
 * was not told
 */
export async function changeSecondStep<T>(actor: Person, change: SecondStepChange<T>, from: RequestOrigin): Promise<T> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  await consumeThrottle(throttleKey("second-step-change", userId), CHANGE_LIMIT);
  return db().$transaction(async (tx) => {
    // Two removals at once would each see the other's as still present.
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
    // They are for replacing the second step, and there is none any more.
    await tx.recoveryCode.deleteMany({ where: { userId } });
  }
  const type = isOn ? "second_step.on" : "second_step.off";
  const event = { type, actorId: userId, subjectId: userId, from } as const;
  await recordAuditEvent(tx, event);
  // Their administrators require it, so they see this too.
  for (const { id } of asking) await recordAuditEvent(tx, { ...event, orgId: id });
}
