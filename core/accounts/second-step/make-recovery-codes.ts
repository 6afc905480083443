import type { Person } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { hasSecondStep } from "./has-second-step.ts";
import { hashRecoveryCode, newRecoveryCode, RECOVERY_CODES } from "./recovery-code.ts";

/** Ten slow hashes each time. */
const MAKE_LIMIT = { limit: 10, windowSeconds: 60 * 60 };

/**
 * Creates ten recovery codes; earlier ones stop working. They are stored hashed, so they can be read only now.
 * @throws ServiceError `conflict` without a second step, `rate_limited`, `reauthentication_required`
 */
export async function makeRecoveryCodes(actor: Person, from: RequestOrigin): Promise<string[]> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  await consumeThrottle(throttleKey("recovery-codes", userId), MAKE_LIMIT);
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const hashes = await Promise.all(codes.map((code) => hashRecoveryCode(userId, code)));
  const change = {
    letter: "new recovery codes were made. Those that you had no longer work.",
    work: async (tx: Db) => {
      if (!(await hasSecondStep(userId, tx))) {
        throw new ServiceError("conflict", "Set up a passkey or an authenticator app first.");
      }
      await tx.recoveryCode.deleteMany({ where: { userId } });
      await tx.recoveryCode.createMany({ data: hashes.map((codeHash) => ({ id: newId(), userId, codeHash })) });
      await recordAuditEvent(tx, { type: "recovery_code.create", actorId: userId, subjectId: userId, from });
    },
  };
  await changeSecondStep(actor, change, from);
  return codes;
}
