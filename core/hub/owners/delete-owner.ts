import { type Actor, actorId } from "../../access/actor.ts";
import { removeOrganization } from "../../accounts/organizations/remove-organization.ts";
import { deleteUser } from "../../accounts/users/delete-user.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { removeWebhooksOf } from "../../webhooks/manage/delete-webhook.ts";
import { removeRepos } from "../repos/change-repo.ts";
import { readRepos } from "../repos/read-repos.ts";

/**
 * Deletes a user with everything they own here: repositories, each with its event, collections and webhooks. What they wrote in others'
 * repositories stays, without their name; so do their commits there.
 * @throws ServiceError as `deleteUser`: then nothing is deleted
 */
export async function deleteAccount(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await deleteUser(actor, userId, from, async (tx) => {
    await removeOwned(tx, userId, actorId(actor) === userId ? null : actorId(actor));
    await forget(tx, userId);
  });
}

/** Deleted authors are null; responses say `ghost` (docs/specification/repositories-and-git.md#discussions-and-pull-requests). */
async function forget(tx: Db, userId: string): Promise<void> {
  await tx.commentReaction.deleteMany({ where: { userId } });
  await tx.accessRequest.deleteMany({ where: { userId } });
  await tx.discussionEvent.updateMany({ where: { authorId: userId }, data: { authorId: null } });
  await tx.discussion.updateMany({ where: { authorId: userId }, data: { authorId: null } });
}

/**
 * Deletes an organization with everything it owns here: repositories, each with its event, collections and webhooks. The data on disk is
 * removed a little later, as for every deleted repository.
 * @throws ServiceError as `removeOrganization`: then nothing is deleted
 */
export async function deleteOrganization(actor: Actor, orgId: string, from: RequestOrigin): Promise<void> {
  await removeOrganization(actor, orgId, from, (tx) => removeOwned(tx, orgId, actorId(actor)));
}

/** Repositories deleted at a time: few statements, and none that takes long. */
const REPOS_AT_A_TIME = 500;

/**
 * Deletes what an owner has in the hub: repositories, each with its event, collections and webhooks, and the usage of models. The caller
 * has locked the owner's row, so that nothing is added meanwhile.
 * @param actorId for the events; null if the actor is the deleted owner
 */
async function removeOwned(
  tx: Db,
  ownerId: string,
  actorId: string | null,
): Promise<{ repos: number; collections: number; webhooks: number }> {
  const repos = await removeOwnedRepos(tx, ownerId, actorId);
  const collections = await tx.collection.deleteMany({ where: { ownerId } });
  const webhooks = await removeWebhooksOf(tx, ownerId);
  await tx.scheduledJob.deleteMany({ where: { ownerId } });
  // A worker that runs one finds its claim gone.
  await tx.jobRun.deleteMany({ where: { ownerId } });
  // There is no foreign key, since an owner is either a user or an organization. People can still read what they used at an
  // organization's expense.
  await tx.inferenceMeter.deleteMany({ where: { ownerId } });
  await tx.inferenceAllowance.deleteMany({ where: { subject: ownerId } });
  await tx.inferenceUsage.deleteMany({ where: { userId: ownerId } });
  await tx.storageUse.deleteMany({ where: { ownerId } });
  await tx.storageQuota.deleteMany({ where: { ownerId } });
  return { repos, collections: collections.count, webhooks };
}

/** Also those of a disabled account, which nobody else sees. */
async function removeOwnedRepos(tx: Db, ownerId: string, actorId: string | null): Promise<number> {
  const next = () =>
    readRepos(Prisma.sql`r.owner_id = ${ownerId}`, {
      tx,
      isOfDisabledToo: true,
      tail: Prisma.sql`ORDER BY r.id LIMIT ${REPOS_AT_A_TIME} FOR UPDATE OF r`,
    });
  await tx.repo.deleteMany({ where: { ownerId, proposedToId: { not: null } } });
  let removed = 0;
  for (let repos = await next(); repos.length > 0; repos = await next()) {
    await removeRepos(tx, repos, actorId);
    removed += repos.length;
  }
  return removed;
}

/** What is deleted together with an organization. */
export type OwnedCounts = { repos: number; collections: number; apps: number; webhooks: number; members: number };

/** How much an organization has, including what is hidden: for those who may delete it. The caller has checked that. */
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
