import { type Actor, actorId } from "../../access/actor.ts";
import { may } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";

/** Revokes a token at once. Another user's token gets the same response as an unknown one (S136). @throws ServiceError `not_found` */
export async function revokePersonalAccessToken(actor: Actor, tokenId: string, from: RequestOrigin): Promise<void> {
  if (!isId(tokenId)) throw notFound("Token");
  await db().$transaction(async (tx) => {
    const token = await tx.personalAccessToken.findUnique({ where: { id: tokenId }, select: { userId: true, name: true } });
    if (!token || !(await may(actor, "personal_access_token.revoke", { userId: token.userId }, tx))) throw notFound("Token");
    const { count } = await tx.personalAccessToken.updateMany({
      where: { id: tokenId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 0) throw notFound("Token");
    await recordAuditEvent(tx, {
      type: "personal_access_token.revoke",
      actorId: actorId(actor),
      subjectId: token.userId,
      data: { tokenId, name: token.name },
      from,
    });
  });
}
