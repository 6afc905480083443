import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { seal } from "../../crypto/seal.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { plainText } from "../plain-text.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { countSecondStepAttempt } from "./count-second-step-attempt.ts";
import { enrolledSecret } from "./start-totp-enrolment.ts";
import { matchingStep, TOTP_SEAL } from "./totp-code.ts";

/**
 * Accepts the first code of a new authenticator app, which then becomes the account's and replaces any previous one. The code
 * is used up: it cannot sign in as well.
 * @throws ServiceError `unauthorized` on `code`, `gone` if the enrolment has expired, `reauthentication_required`,
 * `rate_limited`
 */
export async function confirmTotp(actor: Person, input: { code: string }, from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  const code = plainText("code", input.code, 100);
  const enrolment = await enrolledSecret(userId);
  if (!enrolment) throw new ServiceError("gone", "This took longer than half an hour. Begin again with a new code to scan.");
  const attempt = await countSecondStepAttempt(userId, "code", from);
  const step = matchingStep(enrolment.secret, code);
  if (step === undefined) {
    throw new ServiceError("unauthorized", "This is not what your app should show. Check the clock of its device.", {
      field: "code",
    });
  }
  const letter = "an authenticator app was set up: signing in now takes a code from it, or another second step of yours.";
  const work = async (tx: Db) => {
    const { count } = await tx.oneTimeToken.updateMany({
      where: { tokenHash: enrolment.tokenHash, usedAt: null },
      data: { usedAt: new Date() },
    });
    if (count !== 1) throw new ServiceError("conflict", "This app was set up already.");
    const totp = { sealedSecret: seal(TOTP_SEAL, enrolment.secret), confirmedAt: new Date(), lastStep: step };
    await tx.totp.upsert({ where: { userId }, create: { userId, ...totp }, update: { ...totp, createdAt: new Date() } });
    await recordAuditEvent(tx, { type: "totp.add", actorId: userId, subjectId: userId, from });
  };
  await changeSecondStep(actor, { letter, work }, from);
  await attempt.succeeded();
}
