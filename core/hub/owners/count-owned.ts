import { db } from "../../db.ts";

/** What goes with an organization. */
export type OwnedCounts = { repos: number; collections: number; apps: number; webhooks: number; members: number };

/** How much an organization has, hidden things too: for those who may delete it, whom the caller has asked for. */
export async function countOwned(orgId: string): Promise<OwnedCounts> {
  const [repos, collections, apps, webhooks, members] = await Promise.all([
    db().repo.count({ where: { ownerId: orgId } }),
    db().collection.count({ where: { ownerId: orgId } }),
    db().oAuthApp.count({ where: { ownerOrgId: orgId } }),
    db().webhook.count({ where: { ownerId: orgId } }),
    db().membership.count({ where: { orgId } }),
  ]);
  return { repos, collections, apps, webhooks, members };
}
