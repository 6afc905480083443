import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { unseal } from "../../crypto/seal.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { hashRecoveryCode } from "./recovery-code.ts";
import { matchingStep, TOTP_SEAL } from "./totp-code.ts";

/**
 * Accepts a code of the authenticator app, once: one conditional statement makes its time step the last used one, so that only
 * one of parallel uses of a code succeeds (RFC 6238 §5.2).
 * @throws ServiceError `unauthorized` on `code`
 */
export async function takeTotpCode(tx: Db, userId: string, code: string): Promise<void> {
  const totp = await tx.totp.findUnique({ where: { userId, confirmedAt: { not: null } } });
  const step = totp && matchingStep(unseal(TOTP_SEAL, totp.sealedSecret), code);
  if (step) {
    const { count } = await tx.totp.updateMany({ where: { userId, lastStep: { lt: step } }, data: { lastStep: step } });
    if (count === 1) return;
  }
  throw wrongCode("code", "This code is not right, or was used already. Enter the one that your app shows now.");
}

/**
 * Accepts a recovery code, once.
 * @returns how many are left
 * @throws ServiceError `unauthorized` on `recoveryCode`
 */
export async function takeRecoveryCode(tx: Db, userId: string, code: string, from: RequestOrigin): Promise<number> {
  const codeHash = await hashRecoveryCode(userId, code);
  const { count } = await tx.recoveryCode.updateMany({ where: { userId, codeHash, usedAt: null }, data: { usedAt: new Date() } });
  if (count !== 1) throw wrongCode("recoveryCode", "This is not one of your recovery codes, or it was used already.");
  const left = await tx.recoveryCode.count({ where: { userId, usedAt: null } });
  await recordAuditEvent(tx, { type: "recovery_code.use", actorId: userId, subjectId: userId, data: { left }, from });
  return left;
}

function wrongCode(field: string, description: string): ServiceError {
  return new ServiceError("unauthorized", description, { field });
}
