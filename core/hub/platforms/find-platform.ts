import { hashToken } from "../../crypto/token.ts";
import { db, pool } from "../../db.ts";
import { notFound } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { type Platform, platformTokenPrefix } from "./platform.ts";

// As with other tokens: one write a minute at most.
const LAST_USED_RESOLUTION_SECONDS = 60;

/** The platform whose token this is; undefined when it is unknown, replaced long ago, or the platform was revoked. */
export async function findPlatform(token: string): Promise<Platform | undefined> {
  if (!token.startsWith(platformTokenPrefix())) return undefined;
  const { rows } = await pool().query<Platform & { isUsedLongAgo: boolean }>({
    name: "find-platform",
    text: `SELECT id, name, source, (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => $2)) AS "isUsedLongAgo"
             FROM platform
            WHERE (token_hash = $1 OR (previous_token_hash = $1 AND previous_expires_at > now())) AND revoked_at IS NULL`,
    values: [hashToken(token), LAST_USED_RESOLUTION_SECONDS],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { isUsedLongAgo, ...platform } = row;
  if (isUsedLongAgo) await noteUsed(platform.id);
  return platform;
}

/** While something of it is being done, its row is locked: it is noted with the next request then. */
async function noteUsed(id: string): Promise<void> {
  await pool().query(
    `UPDATE platform SET last_used_at = now()
      WHERE id = (SELECT id FROM platform WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED)`,
    [id],
  );
}

/** One that was not revoked, by id or by name, for those who configure it. @throws ServiceError `not_found` */
export async function findLivePlatform(idOrName: string): Promise<Platform> {
  const isStorable = idOrName.isWellFormed() && !idOrName.includes("\0");
  const platform =
    isStorable &&
    (await db().platform.findFirst({
      where: { revokedAt: null, ...(isId(idOrName) ? { id: idOrName } : { name: idOrName }) },
      select: { id: true, name: true, source: true },
    }));
  if (!platform) throw notFound("Platform");
  return platform;
}
