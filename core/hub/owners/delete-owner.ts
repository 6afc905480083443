import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { removeOrganization } from "../../accounts/organizations/remove-organization.ts";
import { deleteUser, requireDeletable } from "../../accounts/users/delete-user.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, inTransaction } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { removeWebhooksOf } from "../../webhooks/manage/delete-webhook.ts";
import { markWithdrawn } from "../gates/ask-for-access.ts";
import { removeRepos } from "../repos/change-repo.ts";
import { readRepos } from "../repos/read-repos.ts";
import { removeContributions, UPLOADS_AT_A_TIME } from "../repos/remove-contributions.ts";
import type { Repo } from "../repos/repo.ts";

/** Deletes most of a large account in portions, so that another attempt can continue. */
export async function deleteAccount(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  const isOwn = actorId(actor) === userId;
  const by = isOwn ? null : actorId(actor);
  await requireDeletable(actor, userId);
  await removePortions(userId, by, isOwn);
  await deleteUser(actor, userId, from, async (tx) => {
    if (isOwn) await markWithdrawn(tx);
    await removeOwned(tx, userId, by);
    await forget(tx, userId);
  });
}

type Portion = { where: (userId: string) => Prisma.Sql; table: string; most: number; change?: Prisma.Sql };

const ownedBy = (userId: string) => Prisma.sql`owner_id = ${userId}`;
const writtenBy = (userId: string) => Prisma.sql`author_id = ${userId}`;
const ofUser = (userId: string) => Prisma.sql`user_id = ${userId}`;
const isStoreOf = (userId: string) => Prisma.sql`owner_id = ${userId} AND proposed_to_id IS NOT NULL`;
const withoutAuthor = Prisma.sql`SET author_id = NULL`;

/** Tables in which an account can have very many rows. `change` changes rows instead of deleting them. */
const PORTIONS: readonly Portion[] = [
  // A store may have thousands of files, a collection hundreds of items, and a run megabytes of logs.
  { table: "repo", where: isStoreOf, most: UPLOADS_AT_A_TIME },
  { table: "collection", where: ownedBy, most: 50 },
  { table: "job_run", where: ownedBy, most: 200 },
  { table: "comment_reaction", where: ofUser, most: 5_000 },
  { table: "access_request", where: ofUser, most: 5_000 },
  { table: "discussion_event", where: writtenBy, most: 5_000, change: withoutAuthor },
  { table: "discussion", where: writtenBy, most: 5_000, change: withoutAuthor },
];

/** Each portion has a short transaction of its own. Returns the numbers for the audit log. */
async function removePortions(
  ownerId: string,
  by: string | null,
  isOwnAccount = false,
): Promise<{ repos: number; collections: number }> {
  const removed = { repos: 0, collections: 0 };
  const isMore = async (table: string, where: Prisma.Sql, most: number) => {
    const rows = await db().$queryRaw<unknown[]>`SELECT 1 FROM ${Prisma.raw(table)} WHERE ${where} LIMIT 1 OFFSET ${most}`;
    return rows.length > 0;
  };
  for (const { table: name, where: whereOf, most, change } of PORTIONS) {
    const [table, where] = [Prisma.raw(name), whereOf(ownerId)];
    const begin = change ? Prisma.sql`UPDATE ${table} ${change}` : Prisma.sql`DELETE FROM ${table}`;
    while (await isMore(name, where, most)) {
      const some = Prisma.sql`ARRAY(SELECT ctid FROM ${table} WHERE ${where} LIMIT ${most})`;
      const count = await inTransaction(async (tx) => {
        if (isOwnAccount) await markWithdrawn(tx);
        return tx.$executeRaw`${begin} WHERE ${where} AND ctid = ANY (${some})`;
      });
      if (name === "collection") removed.collections += count;
    }
  }
  await removeContributions(Prisma.sql`r.owner_id = ${ownerId}`);
  while (await isMore("repo", Prisma.sql`owner_id = ${ownerId} AND proposed_to_id IS NULL`, REPOS_AT_A_TIME))
    removed.repos += await inTransaction(async (tx) => {
      const repos = await nextRepos(tx, ownerId);
      await removeRepos(tx, repos, by);
      return repos.length;
    });
  return removed;
}

/** Discussions and comments stay without an author, whom responses call `ghost`. */
async function forget(tx: Db, userId: string): Promise<void> {
  await tx.commentReaction.deleteMany({ where: { userId } });
  await tx.accessRequest.deleteMany({ where: { userId } });
  await tx.discussionEvent.updateMany({ where: { authorId: userId }, data: { authorId: null } });
  await tx.discussion.updateMany({ where: { authorId: userId }, data: { authorId: null } });
}

export async function deleteOrganization(actor: Actor, orgId: string, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "organization.delete", { orgId }, { what: "Organization" });
  const before = await removePortions(orgId, actorId(actor));
  await removeOrganization(actor, orgId, from, async (tx) => {
    const { repos, collections, webhooks } = await removeOwned(tx, orgId, actorId(actor));
    return { repos: repos + before.repos, collections: collections + before.collections, webhooks };
  });
}

const REPOS_AT_A_TIME = 500;

/** The caller has locked the owner's row, so nothing is added. `actorId` is null if the owner is the actor. */
async function removeOwned(
  tx: Db,
  ownerId: string,
  actorId: string | null,
): Promise<{ repos: number; collections: number; webhooks: number }> {
  const repos = await removeOwnedRepos(tx, ownerId, actorId);
  const collections = await tx.collection.deleteMany({ where: { ownerId } });
  const webhooks = await removeWebhooksOf(tx, ownerId);
  await tx.scheduledJob.deleteMany({ where: { ownerId } });
  await tx.jobRun.deleteMany({ where: { ownerId } });
  // These tables have no foreign keys, because an owner is either a user or an organization.
  await tx.inferenceMeter.deleteMany({ where: { ownerId } });
  await tx.inferenceAllowance.deleteMany({ where: { subject: ownerId } });
  await tx.inferenceUsage.deleteMany({ where: { userId: ownerId } });
  await tx.storageUse.deleteMany({ where: { ownerId } });
  await tx.storageQuota.deleteMany({ where: { ownerId } });
  return { repos, collections: collections.count, webhooks };
}

async function removeOwnedRepos(tx: Db, ownerId: string, actorId: string | null): Promise<number> {
  await tx.repo.deleteMany({ where: { ownerId, proposedToId: { not: null } } });
  let removed = 0;
  for (let repos = await nextRepos(tx, ownerId); repos.length > 0; repos = await nextRepos(tx, ownerId)) {
    await removeRepos(tx, repos, actorId);
    removed += repos.length;
  }
  return removed;
}

const nextRepos = (tx: Db, ownerId: string): Promise<Repo[]> =>
  readRepos(Prisma.sql`r.owner_id = ${ownerId} AND r.proposed_to_id IS NULL`, {
    tx,
    isOfDisabledToo: true,
    tail: Prisma.sql`ORDER BY r.id LIMIT ${REPOS_AT_A_TIME} FOR UPDATE OF r`,
  });

export type OwnedCounts = { repos: number; collections: number; apps: number; webhooks: number; members: number };

/** The caller must have checked that the actor may delete the organization. */
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
