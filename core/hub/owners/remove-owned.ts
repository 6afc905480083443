import type { Db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { removeWebhooksOf } from "../../webhooks/manage/remove-webhooks.ts";
import { readRepos } from "../repos/read-repos.ts";
import { removeRepos } from "../repos/remove-repos.ts";

/** Repositories taken out at a time: few statements for many, and none too long. */
const BATCH = 500;

/**
 * Takes out what an owner has in the hub: repositories, each with its event, collections and webhooks; and the record of what they asked
 * models. Whoever calls it holds the
 * owner's row, so that nothing is added meanwhile.
 * @param actorId for the events; null when the actor is the owner who goes
 */
export async function removeOwned(
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
  // No foreign key leads there, since an owner is either a user or an organization. What people used at an organization's expense
  // stays theirs to read.
  await tx.inferenceMeter.deleteMany({ where: { ownerId } });
  await tx.inferenceAllowance.deleteMany({ where: { subject: ownerId } });
  await tx.inferenceUsage.deleteMany({ where: { userId: ownerId } });
  await tx.storageUse.deleteMany({ where: { ownerId } });
  await tx.storageQuota.deleteMany({ where: { ownerId } });
  return { repos, collections: collections.count, webhooks };
}

/** Of a user's repositories those of a disabled account too, which nobody else sees. */
async function removeOwnedRepos(tx: Db, ownerId: string, actorId: string | null): Promise<number> {
  const next = () =>
    readRepos(Prisma.sql`r.owner_id = ${ownerId}`, {
      tx,
      isOfDisabledToo: true,
      tail: Prisma.sql`ORDER BY r.id LIMIT ${BATCH} FOR UPDATE OF r`,
    });
  let removed = 0;
  for (let repos = await next(); repos.length > 0; repos = await next()) {
    await removeRepos(tx, repos, actorId);
    removed += repos.length;
  }
  return removed;
}
