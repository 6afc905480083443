import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { isSourceOf, PLATFORMS_MAX, type Platform, parsePlatformName, parseSource, platformTokenPrefix } from "./platform.ts";

/**
 * Lets a system beside us speak for repositories of its own. Its token is shown this once; only its hash and last four characters are
 * kept (S55).
 * @throws ServiceError `invalid_request`, `conflict` (its name or its source is another one's), `forbidden`,
 * `reauthentication_required`
 */
export async function createPlatform(
  actor: Actor,
  input: { name: string; source: string },
  from: RequestOrigin,
): Promise<Platform & { token: string }> {
  await requirePermission(actor, "installation.configure", null, { what: "The installation" });
  const [name, source] = [parsePlatformName(input.name), parseSource(input.source)];
  const id = newId();
  const token = newToken(platformTokenPrefix());
  await db().$transaction(async (tx) => {
    await requireFree(tx, name, source);
    await tx.platform.create({ data: { id, name, source, tokenHash: hashToken(token), last4: token.slice(-4) } });
    await recordAuditEvent(tx, {
      type: "platform.create",
      actorId: actorId(actor),
      data: { platformId: id, name, source },
      from,
    });
  });
  return { id, name, source, token };
}

/** No two may speak as the same source: what one of them has sent would count as sent by the other. */
async function requireFree(tx: Db, name: string, source: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('platforms', 0))`;
  const others = await tx.platform.findMany({ select: { name: true, source: true, revokedAt: true } });
  if (others.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
    throw new ServiceError("conflict", "There is a platform of this name, or was. Choose another.", { field: "name" });
  }
  const rival = others.find((other) => isSourceOf(other.source, source) || isSourceOf(source, other.source));
  if (rival) throw new ServiceError("conflict", `${rival.name} speaks for ${rival.source}. Choose another.`, { field: "source" });
  if (others.filter(({ revokedAt }) => revokedAt === null).length >= PLATFORMS_MAX) {
    throw new ServiceError("conflict", `There are ${PLATFORMS_MAX} platforms. Revoke one first.`);
  }
}
