import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { type NewAuditEvent, recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { secondStepChangedEmail } from "../emails/sign-in-emails.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { lockLiveUser } from "../users/find-user.ts";
import { hasSecondStep, organizationsRequiringSecondStep, requireLossConfirmed } from "./find-second-step.ts";

type SecondStepChange = {
  /** The text of the email to the owner. Null if the change does not affect security. */
  message: string | null;
  closes?: readonly string[];
  from: RequestOrigin;
};

type RecordEvent = (event: Pick<NewAuditEvent, "type" | "data">) => Promise<void>;

const CHANGE_LIMIT = { limit: 60, windowSeconds: 60 * 60 };

/** Turning the second step on or off writes an entry into the log of every organization that requires a second step. */
export const TOGGLES_PER_HOUR = 10;

/**
 * See S113, S116.
 * @throws ServiceError `conflict` if the user would lose access to an organization that is not in `closes`
 */
export async function changeSecondStep<T>(
  actor: Person,
  { message, closes = [], from }: SecondStepChange,
  change: (tx: Db, record: RecordEvent) => Promise<T>,
): Promise<T> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  await consumeThrottle(throttleKey("second-step-change", userId), CHANGE_LIMIT);
  return db().$transaction(async (tx) => {
    // Without the lock, two concurrent removals would each find the other method still present.
    await lockLiveUser(tx, userId);
    const wasOn = await hasSecondStep(userId, tx);
    const done = await change(tx, (event) => recordAuditEvent(tx, { ...event, actorId: userId, subjectId: userId, from }));
    const isOn = await hasSecondStep(userId, tx);
    if (wasOn !== isOn) await recordToggle(tx, userId, isOn, closes, from);
    if (message) {
      const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
      await queueMail(tx, { to: user.email, ...secondStepChangedEmail({ username: user.username, change: message }) });
    }
    return done;
  });
}

async function recordToggle(
  tx: Db,
  userId: string,
  isOn: boolean,
  closes: readonly string[],
  from: RequestOrigin,
): Promise<void> {
  const requiring = await organizationsRequiringSecondStep(userId, tx);
  if (!isOn) {
    requireLossConfirmed(requiring, closes);
    await tx.recoveryCode.deleteMany({ where: { userId } });
  }
  await limitToggles(tx, userId);
  const type = isOn ? "second_step.on" : "second_step.off";
  const event = { type, actorId: userId, subjectId: userId, from } as const;
  await recordAuditEvent(tx, event);
  for (const { id } of requiring) await recordAuditEvent(tx, { ...event, orgId: id });
}

/** Organizations must see each change, so a change beyond the limit is refused (S144). */
async function limitToggles(tx: Db, userId: string): Promise<void> {
  const toggles = await tx.auditEvent.count({
    where: {
      actorId: userId,
      orgId: null,
      type: { in: ["second_step.on", "second_step.off"] },
      createdAt: { gt: new Date(Date.now() - 60 * 60 * 1000) },
    },
  });
  if (toggles < TOGGLES_PER_HOUR) return;
  const text = "You have turned the second step on and off too often. Try again in an hour.";
  throw new ServiceError("rate_limited", text, { retryAfterSeconds: 60 * 60 });
}
