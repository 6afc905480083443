import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { db } from "../../db.ts";
import { PLATFORMS_MAX } from "./platform.ts";

export type ListedPlatform = {
  id: string;
  name: string;
  source: string;
  last4: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Until when the token before the latest one works; null when there is none. */
  previousExpiresAt: Date | null;
  repoCount: number;
};

/** Every platform that was not revoked, by name, with how many repositories of it are known here. @throws ServiceError `forbidden` */
export async function listPlatforms(actor: Actor): Promise<ListedPlatform[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  return db().$queryRaw<ListedPlatform[]>`
    SELECT p.id, p.name, p.source, p.last4, p.created_at AS "createdAt", p.last_used_at AS "lastUsedAt",
           CASE WHEN p.previous_expires_at > now() THEN p.previous_expires_at END AS "previousExpiresAt",
           (SELECT count(*)::int FROM repo r WHERE r.platform_id = p.id) AS "repoCount"
      FROM platform p WHERE p.revoked_at IS NULL ORDER BY lower(p.name) LIMIT ${PLATFORMS_MAX}`;
}
