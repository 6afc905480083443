import type { RepoType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import { db } from "../../db.ts";

/** How many repositories of each type a user or an organization has, as far as the actor may see them (S136). */
export async function countOwnedRepos(actor: Actor, ownerId: string): Promise<Record<RepoType, number>> {
  const readable = readableWhere("r", await readableOwners(actor, "repo.read"));
  const rows = await db().$queryRaw<{ type: RepoType; count: number }[]>`
    SELECT r.type, count(*)::int AS count FROM repo r WHERE r.owner_id = ${ownerId} AND ${readable} GROUP BY r.type`;
  return { model: 0, dataset: 0, space: 0, ...Object.fromEntries(rows.map(({ type, count }) => [type, count])) };
}
