import type { Actor } from "../access/actor.ts";
import { may } from "../access/may.ts";
import { db } from "../db.ts";
import type { Watchable } from "./count-watching.ts";

export type WatchingWebhook = { id: string; url: string | null; domains: string[] };

/** How many are named; a page that has more says how many. */
const NAMED_MAX = 20;

type Row = WatchingWebhook & { ownerId: string; ownerKind: "user" | "organization" };

/**
 * The enabled webhooks that watch a repository or its owner and may be told of it (S129). Those whose owner the actor may manage are
 * named; of the others only the number is told, since whom somebody else tells is their affair.
 */
export async function watchingWebhooks(
  actor: Actor,
  { id, owner, isPrivate }: Watchable,
): Promise<{ named: WatchingWebhook[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    db().$queryRaw<Row[]>`SELECT DISTINCT w.id, w.url, w.domains, w.owner_id AS "ownerId", w.owner_kind AS "ownerKind"
      FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
     WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL
       AND (NOT ${isPrivate} OR w.owner_id = ${owner.id}
            OR EXISTS (SELECT FROM membership m WHERE m.org_id = ${owner.id} AND m.user_id = w.owner_id))
     ORDER BY w.id LIMIT ${NAMED_MAX}`,
    db().$queryRaw<{ total: number }[]>`SELECT count(DISTINCT w.id)::int AS total
      FROM webhook_watch i JOIN webhook w ON w.id = i.webhook_id
     WHERE i.target_id IN (${id}, ${owner.id}) AND w.disabled_at IS NULL
       AND (NOT ${isPrivate} OR w.owner_id = ${owner.id}
            OR EXISTS (SELECT FROM membership m WHERE m.org_id = ${owner.id} AND m.user_id = w.owner_id))`,
  ]);
  const named: WatchingWebhook[] = [];
  for (const { ownerId, ownerKind, ...webhook } of rows) {
    const isTheirs =
      ownerKind === "user"
        ? await may(actor, "user.update", { userId: ownerId })
        : await may(actor, "organization.manage", { orgId: ownerId });
    if (isTheirs) named.push(webhook);
  }
  return { named, total: count?.total ?? 0 };
}
