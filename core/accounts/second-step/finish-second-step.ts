import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { unseal } from "#core/crypto/seal.ts";
import { type Db, db } from "#core/db.ts";
import { isServiceError, ServiceError } from "#core/errors.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import { recoveryCodeUsedEmail, secondStepFailedEmail } from "../emails/sign-in-emails.ts";
import { useOneTimeToken } from "../one-time-token.ts";
import { lockForSignIn, type SignInOutcome, startSignedIn } from "../sessions/complete-sign-in.ts";
import type { AuthenticationMethod } from "../sessions/start-site-session.ts";
import { renewAuthentication } from "./complete-reauthentication.ts";
import { countSecondStepAttempt } from "./count-second-step-attempt.ts";
import { type FoundSecondStep, findPendingSecondStep, signInExpired } from "./pending-second-step.ts";
import { recoveryCodeHashes } from "./recovery-codes.ts";
import { matchingStep, TOTP_SEAL } from "./totp-code.ts";
import { verifyPasskey } from "./verify-passkey.ts";

export type SecondStepProof =
  | { kind: "code"; code: string }
  | { kind: "recovery-code"; code: string }
  | { kind: "passkey"; response: unknown };

export type FinishSecondStepInput = {
  token: string | undefined;
  proof: SecondStepProof;
  /** The browser's session, which a sign-in replaces (S34) and a reauthentication renews. */
  session: string | undefined;
};

export async function finishSecondStep(
  { token, proof, session }: FinishSecondStepInput,
  from: RequestOrigin,
): Promise<SignInOutcome & { step: "done" }> {
  const pending = await findPendingSecondStep(token);
  if (!token || !pending) throw signInExpired();
  const { userId } = pending;
  const attempt = await countSecondStepAttempt(userId, proof.kind, from);
  try {
    // The passkey is verified before the transaction, because its challenge must be used up even if the transaction fails.
    if (proof.kind === "passkey") await verifyPasskeyProof(proof.response, pending);
    const outcome = await db().$transaction(async (tx) => {
      await lockForSignIn(tx, userId);
      await useOneTimeToken(tx, token, "second-step").catch((error: unknown) => {
        throw isServiceError(error) ? signInExpired() : error;
      });
      const methods = withSecond(pending.methods, await acceptProof(tx, userId, proof, from));
      const { sessionId } = pending;
      if (sessionId) return renewAuthentication(tx, { userId, sessionId, session: session ?? "" }, methods, from);
      return startSignedIn(tx, userId, { methods, provedBy: provedBy(pending), replaces: session }, from);
    });
    await attempt.succeeded();
    return outcome;
  } catch (error) {
    if (isServiceError(error) && error.code === "unauthorized") await recordFailure(userId, proof, attempt.isLast, from);
    throw error;
  }
}

async function verifyPasskeyProof(response: unknown, { id, userId }: FoundSecondStep): Promise<void> {
  await verifyPasskey(response, { for: "second-step", userId, boundTo: id }, { isVerificationRequired: false });
}

async function acceptProof(tx: Db, userId: string, proof: SecondStepProof, from: RequestOrigin): Promise<AuthenticationMethod> {
  if (proof.kind === "passkey") return "pop";
  if (proof.kind === "code") {
    await acceptTotpCode(tx, userId, proof.code);
    return "otp";
  }
  const left = await acceptRecoveryCode(tx, userId, proof.code, from);
  const { username, email } = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
  await queueMail(tx, { to: email, ...recoveryCodeUsedEmail({ username, left }) });
  return "otp";
}

/** `mfa` is added only if the user showed two factors here. */
function withSecond(first: readonly AuthenticationMethod[], second: AuthenticationMethod): AuthenticationMethod[] {
  return first.length > 0 ? [...first, second, "mfa"] : [second];
}

function provedBy({ methods }: FoundSecondStep): "password" | "provider" {
  return methods.includes("pwd") ? "password" : "provider";
}

/** The caller has passed the first step, but may not be the account's owner. */
async function recordFailure(userId: string, { kind }: SecondStepProof, isLast: boolean, from: RequestOrigin): Promise<void> {
  await db().$transaction(async (tx) => {
    // Attempts with passkeys are unlimited, so the audit log gets only a limited number of them (S144).
    const record = kind === "passkey" ? recordAboutSomebody : recordAuditEvent;
    await record(tx, { type: "second_step.failed", subjectId: userId, clientId: null, data: { kind }, from });
    if (!isLast) return;
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { username: true, email: true } });
    await queueMail(tx, { to: user.email, ...secondStepFailedEmail(user) });
  });
}

/** RFC 6238 §5.2: only one of several parallel uses of a code succeeds. */
async function acceptTotpCode(tx: Db, userId: string, code: string): Promise<void> {
  const totp = await tx.totp.findUnique({ where: { userId, confirmedAt: { not: null } } });
  const step = totp && matchingStep(unseal(TOTP_SEAL, totp.sealedSecret), code);
  if (step) {
    const { count } = await tx.totp.updateMany({ where: { userId, lastStep: { lt: step } }, data: { lastStep: step } });
    if (count === 1) return;
  }
  throw wrongCode("code", "This code is incorrect or was already used. Enter the code that your authenticator app shows now.");
}

async function acceptRecoveryCode(tx: Db, userId: string, code: string, from: RequestOrigin): Promise<number> {
  const codeHash = { in: await recoveryCodeHashes(tx, userId, code) };
  const { count } = await tx.recoveryCode.updateMany({ where: { userId, codeHash, usedAt: null }, data: { usedAt: new Date() } });
  if (count !== 1) throw wrongCode("recoveryCode", "This recovery code is incorrect or was already used.");
  const left = await tx.recoveryCode.count({ where: { userId, usedAt: null } });
  await recordAuditEvent(tx, { type: "recovery_code.use", actorId: userId, subjectId: userId, data: { left }, from });
  return left;
}

function wrongCode(field: string, description: string): ServiceError {
  return new ServiceError("unauthorized", description, { field });
}
