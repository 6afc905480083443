import type { Actor } from "../access/actor.ts";
import { organizationsOf } from "../access/organizations-of.ts";
import { db } from "../db.ts";
import { type Watchable, watchers } from "./watchers.ts";

export type WatchingWebhook = {
  id: string;
  url: string | null;
  domains: string[];
  /** The name of the organization that owns it; null for the actor's own. */
  organization: string | null;
};

/** How many are named; the page says how many more there are. */
const NAMED_MAX = 20;

/**
 * The enabled webhooks that watch a repository or its owner and may receive its events (S129). A person's own and those of
 * organizations whose webhooks they may read are named, however many others there are; the others are only counted, since whom
 * they notify is their owners' business.
 */
export async function watchingWebhooks(actor: Actor, repo: Watchable): Promise<{ named: WatchingWebhook[]; total: number }> {
  const ownerIds = actor.kind === "person" ? [actor.userId, ...(await organizationsOf(actor, "webhook.read"))] : [];
  const [named, [count]] = await Promise.all([
    ownerIds.length === 0
      ? []
      : db().$queryRaw<WatchingWebhook[]>`SELECT DISTINCT w.id, w.url, w.domains,
          (SELECT o.name FROM organization o WHERE w.owner_kind = 'organization' AND o.id = w.owner_id) AS organization
          ${watchers(repo)} AND w.owner_id = ANY (${ownerIds}) ORDER BY w.id LIMIT ${NAMED_MAX}`,
    db().$queryRaw<{ total: number }[]>`SELECT count(DISTINCT w.id)::int AS total ${watchers(repo)}`,
  ]);
  return { named, total: count?.total ?? 0 };
}
