import type { Person } from "../../access/actor.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { displayText } from "../display-text.ts";
import { changeSecondStep } from "./change-second-step.ts";

/**
 * Renames a passkey.
 * @throws ServiceError `not_found`, `invalid_request` on `name`, `reauthentication_required`
 */
export async function renamePasskey(actor: Person, id: string, input: { name: string }, from: RequestOrigin): Promise<void> {
  const { userId } = actor;
  if (!isId(id)) throw notFound("Passkey");
  const name = displayText("name", input.name, { maxCharacters: 60 });
  const change = {
    letter: null,
    work: async (tx: Db) => {
      const { count } = await tx.passkey.updateMany({ where: { id, userId }, data: { name } });
      if (count === 0) throw notFound("Passkey");
      await recordAuditEvent(tx, { type: "passkey.rename", actorId: userId, subjectId: userId, data: { name }, from });
    },
  };
  await changeSecondStep(actor, change, from);
}
