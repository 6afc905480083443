import type { Actor } from "../access/actor.ts";
import { may } from "../access/may.ts";
import { db } from "../db.ts";
import { type Watchable, watchers } from "./watchers.ts";

export type WatchingWebhook = { id: string; url: string | null; domains: string[] };

/** How many are named; a page that has more says how many. */
const NAMED_MAX = 20;

type Row = WatchingWebhook & { ownerId: string; ownerKind: "user" | "organization" };

/**
 * The enabled webhooks that watch a repository or its owner and may be told of it (S129). Those whose owner the actor may manage are
 * named; of the others only the number is told, since whom somebody else tells is their affair.
 */
export async function watchingWebhooks(actor: Actor, repo: Watchable): Promise<{ named: WatchingWebhook[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    db().$queryRaw<Row[]>`SELECT DISTINCT w.id, w.url, w.domains, w.owner_id AS "ownerId", w.owner_kind AS "ownerKind"
      ${watchers(repo)} ORDER BY w.id LIMIT ${NAMED_MAX}`,
    db().$queryRaw<{ total: number }[]>`SELECT count(DISTINCT w.id)::int AS total ${watchers(repo)}`,
  ]);
  const isTheirs = new Map<string, boolean>();
  for (const row of rows) {
    if (!isTheirs.has(row.ownerId)) isTheirs.set(row.ownerId, await mayManage(actor, row));
  }
  const named = rows.filter(({ ownerId }) => isTheirs.get(ownerId)).map(({ id, url, domains }) => ({ id, url, domains }));
  return { named, total: count?.total ?? 0 };
}

function mayManage(actor: Actor, { ownerId, ownerKind }: Row): Promise<boolean> {
  return ownerKind === "user"
    ? may(actor, "user.update", { userId: ownerId })
    : may(actor, "organization.manage", { orgId: ownerId });
}
