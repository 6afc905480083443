import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { requireWayIn } from "../identity-providers/ways-in.ts";
import { changeSecondStep } from "./change-second-step.ts";

/**
 * Deletes one of the user's passkeys: it no longer signs anybody in.
 * @param closes the organizations that the user was told this closes to them, if it is the last second step
 * @throws ServiceError `not_found`, `conflict` (the last way in; see `changeSecondStep`), `reauthentication_required`
 */
export async function removePasskey(actor: Person, id: string, closes: readonly string[], from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  if (!isId(id)) throw notFound("Passkey");
  const passkey = await db().passkey.findFirst({ where: { id, userId }, select: { name: true } });
  if (!passkey) throw notFound("Passkey");
  const { name } = passkey;
  const change = {
    letter: `the passkey "${name}" was removed: it no longer signs you in.`,
    closes,
    work: async (tx: Db) => {
      const { count } = await tx.passkey.deleteMany({ where: { id, userId } });
      if (count === 0) throw notFound("Passkey");
      await requireWayIn(userId, tx);
      await recordAuditEvent(tx, { type: "passkey.remove", actorId: userId, subjectId: userId, data: { name }, from });
    },
  };
  await changeSecondStep(actor, change, from);
}
