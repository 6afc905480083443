import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { hashToken, newToken } from "../../crypto/token.ts";
import { type Db, db } from "../../db.ts";
import { conflict, notFound } from "../../errors.ts";
import { newId } from "../../ids.ts";
import {
  isSourceOf,
  PLATFORMS_MAX,
  type Platform,
  parsePlatformName,
  parseSource,
  platformTokenPrefix,
  TOKEN_OVERLAP_HOURS,
} from "./platform.ts";

/** Stores only the token's hash and last four characters (S55). */
export async function createPlatform(
  actor: Actor,
  input: { name: string; source: string },
  from: RequestOrigin,
): Promise<Platform & { token: string }> {
  const [name, source] = [parsePlatformName(input.name), parseSource(input.source)];
  const id = newId();
  const token = newToken(platformTokenPrefix());
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    await requireFree(tx, name, source);
    await tx.platform.create({ data: { id, name, source, tokenHash: hashToken(token), last4: token.slice(-4) } });
    await recordAuditEvent(tx, { type: "platform.create", actor, data: { platformId: id, name, source }, from });
  });
  return { id, name, source, token };
}

/** Revoked platforms count too: one platform's event could be mistaken for a duplicate of the other's. */
async function requireFree(tx: Db, name: string, source: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('platforms', 0))`;
  const others = await tx.platform.findMany({ select: { name: true, source: true, revokedAt: true } });
  if (others.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
    throw conflict("This name is or was used by another platform. Choose another.", "name");
  }
  const rival = others.find((other) => isSourceOf(other.source, source) || isSourceOf(source, other.source));
  if (rival) {
    const who = rival.revokedAt === null ? `${rival.name} already has` : `${rival.name}, which was revoked, had`;
    throw conflict(`${who} the source ${rival.source}. Choose another source.`, "source");
  }
  if (others.filter(({ revokedAt }) => revokedAt === null).length >= PLATFORMS_MAX) {
    throw conflict(`There are already ${PLATFORMS_MAX} platforms. Revoke one first.`);
  }
}

/** The previous token works for another day, so that no event is lost. An older token ends now. */
export async function rotatePlatformToken(
  actor: Actor,
  { id, name }: Pick<Platform, "id" | "name">,
  from: RequestOrigin,
): Promise<{ token: string; previousExpiresAt: Date }> {
  const token = newToken(platformTokenPrefix());
  const previousExpiresAt = new Date(Date.now() + TOKEN_OVERLAP_HOURS * 60 * 60 * 1000);
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const changed = await tx.$executeRaw`
      UPDATE platform SET previous_token_hash = token_hash, previous_expires_at = ${previousExpiresAt},
             token_hash = ${hashToken(token)}, last4 = ${token.slice(-4)}
       WHERE id = ${id} AND revoked_at IS NULL`;
    if (changed === 0) throw notFound("Platform");
    await recordAuditEvent(tx, { type: "platform.rotate_token", actor, data: { platformId: id, name }, from });
  });
  return { token, previousExpiresAt };
}

/** Deletes the platform's repositories, because nobody would update their visibility. */
export async function revokePlatform(
  actor: Actor,
  { id, name }: Pick<Platform, "id" | "name">,
  from: RequestOrigin,
): Promise<{ removedRepos: number }> {
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const { count } = await tx.platform.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
    if (count === 0) throw notFound("Platform");
    const { count: removedRepos } = await tx.repo.deleteMany({ where: { platformId: id } });
    await recordAuditEvent(tx, { type: "platform.revoke", actor, data: { platformId: id, name, removedRepos }, from });
    return { removedRepos };
  });
}

export type ListedPlatform = {
  id: string;
  name: string;
  source: string;
  last4: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  previousExpiresAt: Date | null;
  repoCount: number;
};

export async function listPlatforms(actor: Actor): Promise<ListedPlatform[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  return db().$queryRaw<ListedPlatform[]>`
    SELECT p.id, p.name, p.source, p.last4, p.created_at AS "createdAt", p.last_used_at AS "lastUsedAt",
           CASE WHEN p.previous_expires_at > now() THEN p.previous_expires_at END AS "previousExpiresAt",
           (SELECT count(*)::int FROM repo r WHERE r.platform_id = p.id) AS "repoCount"
      FROM platform p WHERE p.revoked_at IS NULL ORDER BY lower(p.name) LIMIT ${PLATFORMS_MAX}`;
}
