import type { EventDomain } from "@keyhook/sdk";
import { type Db, db } from "../db.ts";
import { type Watchable, watchers } from "./watchers.ts";

/** How many webhooks an event of this repository triggers: those that watch it and the event's domain. */
export async function countWatching(repo: Watchable, domain: EventDomain, tx: Db = db()): Promise<number> {
  const [row] = await tx.$queryRaw<
    { count: number }[]
  >`SELECT count(DISTINCT w.id)::int AS count ${watchers(repo)} AND ${domain} = ANY (w.domains)`;
  return row?.count ?? 0;
}
