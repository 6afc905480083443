import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { isServiceError } from "../../errors.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { recoveryCodeUsedLetter, secondStepFailedLetter } from "../mails/second-step-letters.ts";
import { useOneTimeToken } from "../one-time-tokens/use-one-time-token.ts";
import type { AuthenticationMethod } from "../sessions/authentication-method.ts";
import { lockForSignIn, type SignInOutcome, startSignedIn } from "../sessions/complete-sign-in.ts";
import { renewAuthentication } from "./complete-reauthentication.ts";
import { countSecondStepAttempt } from "./count-second-step-attempt.ts";
import { type FoundSecondStep, findPendingSecondStep, signInRanOut } from "./find-pending-second-step.ts";
import { takeRecoveryCode, takeTotpCode } from "./prove-second-step.ts";
import { verifyPasskey } from "./verify-passkey.ts";

/** What a user answers the second step with. */
export type SecondStepProof =
  | { kind: "code"; code: string }
  | { kind: "recovery-code"; code: string }
  /** @param response the browser's passkey response, unchanged */
  | { kind: "passkey"; response: unknown };

export type FinishSecondStepInput = {
  /** The token of `completeSignIn`, from the browser's cookie. */
  token: string | undefined;
  proof: SecondStepProof;
  /** The session token that the browser sent: replaced by a sign-in (S34), renewed by a reauthentication. */
  session: string | undefined;
};

/**
 * Completes what `completeSignIn` or `completeReauthentication` began: a new session, or the same session under a new token and
 * recent again. A wrong answer leaves the pending step open for another attempt; a correct one uses it up.
 * @throws ServiceError `gone` (begin again), `unauthorized` with the field, `rate_limited`, `forbidden` (disabled)
 */
export async function finishSecondStep(
  { token, proof, session }: FinishSecondStepInput,
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  const pending = await findPendingSecondStep(token);
  if (!token || !pending) throw signInRanOut();
  const { userId } = pending;
  const attempt = await countSecondStepAttempt(userId, proof.kind, from);
  try {
    // Before the transaction: an answer uses its challenge up, even if the rest fails.
    if (proof.kind === "passkey") await answerAsSecondStep(proof.response, pending);
    const outcome = await db().$transaction(async (tx) => {
      await lockForSignIn(tx, userId);
      await useOneTimeToken(tx, token, "second-step").catch((error: unknown) => {
        throw isServiceError(error) ? signInRanOut() : error;
      });
      const methods = withSecond(pending.methods, await takeProof(tx, userId, proof, from));
      const { sessionId } = pending;
      if (sessionId) return renewAuthentication(tx, { userId, sessionId, session: session ?? "" }, methods, from);
      return startSignedIn(tx, userId, { methods, provedBy: provedBy(pending), replaces: session }, from);
    });
    await attempt.succeeded();
    return outcome;
  } catch (error) {
    if (isServiceError(error) && error.code === "unauthorized") await noteFailure(userId, proof, attempt.isLast, from);
    throw error;
  }
}

async function answerAsSecondStep(response: unknown, { id, userId }: FoundSecondStep): Promise<void> {
  await verifyPasskey(response, { for: "second-step", userId, boundTo: id }, { isVerificationRequired: false });
}

async function takeProof(tx: Db, userId: string, proof: SecondStepProof, from: RequestOrigin): Promise<AuthenticationMethod> {
  if (proof.kind === "passkey") return "pop";
  if (proof.kind === "code") {
    await takeTotpCode(tx, userId, proof.code);
    return "otp";
  }
  const left = await takeRecoveryCode(tx, userId, proof.code, from);
  const { username, email } = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
  await queueMail(tx, { to: email, ...recoveryCodeUsedLetter({ username, left }) });
  return "otp";
}

/** `mfa` only if two factors were shown here: we cannot vouch for what another provider checked. */
function withSecond(first: readonly AuthenticationMethod[], second: AuthenticationMethod): AuthenticationMethod[] {
  return first.length > 0 ? [...first, second, "mfa"] : [second];
}

function provedBy({ methods }: FoundSecondStep): "password" | "provider" {
  return methods.includes("pwd") ? "password" : "provider";
}

/** Whoever gets here has the password. Its owner is told when the attempts run out, in case they are made by somebody else. */
async function noteFailure(userId: string, { kind }: SecondStepProof, isLast: boolean, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    await recordAuditEvent(tx, { type: "second_step.failed", subjectId: userId, data: { kind }, from });
    if (!isLast) return;
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    await queueMail(tx, { to: user.email, ...secondStepFailedLetter(user) });
  });
}
