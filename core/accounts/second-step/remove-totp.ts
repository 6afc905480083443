import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { changeSecondStep } from "./change-second-step.ts";

/**
 * Removes the user's authenticator app.
 * @param closes the organizations that the user was told this closes to them
 * @throws ServiceError `not_found`, `conflict` (see `changeSecondStep`), `reauthentication_required`
 */
export async function removeTotp(actor: Person, closes: readonly string[], from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  const letter = "your authenticator app was removed: its codes no longer sign you in.";
  const change = {
    letter,
    closes,
    work: async (tx: Db) => {
      const { count } = await tx.totp.deleteMany({ where: { userId } });
      if (count === 0) throw notFound("Authenticator app");
      await recordAuditEvent(tx, { type: "totp.remove", actorId: userId, subjectId: userId, from });
    },
  };
  await changeSecondStep(actor, change, from);
}
