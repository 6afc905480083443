import { type Actor, actorId } from "../../access/actor.ts";
import { deleteUser } from "../../accounts/users/delete-user.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { readRepos } from "../repos/read-repos.ts";
import { removeRepos } from "../repos/remove-repos.ts";

/** Repositories taken out at a time: few statements for many, and none too long. */
const BATCH = 500;

/**
 * Deletes a user with what they own here: repositories, each with its event, collections and webhooks. What they said in the
 * repositories of others stays, without their name; so do the commits they made there.
 * @throws ServiceError as `deleteUser`: then nothing is deleted
 */
export async function deleteAccount(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await deleteUser(actor, userId, from, async (tx) => {
    await removeOwnedRepos(tx, userId, actorId(actor) === userId ? null : actorId(actor));
    await tx.collection.deleteMany({ where: { ownerId: userId } });
    await tx.webhook.deleteMany({ where: { ownerId: userId } });
    await forget(tx, userId);
  });
}

/** Of the user's repositories those of a disabled account too, which nobody else sees. */
async function removeOwnedRepos(tx: Db, userId: string, actorId: string | null): Promise<void> {
  const next = () =>
    readRepos(Prisma.sql`r.owner_id = ${userId}`, {
      tx,
      isOfDisabledToo: true,
      tail: Prisma.sql`ORDER BY r.id LIMIT ${BATCH} FOR UPDATE OF r`,
    });
  for (let repos = await next(); repos.length > 0; repos = await next()) await removeRepos(tx, repos, actorId);
}

/** An author who is no more is null everywhere (wire.md 5.2 keeps `author` null-safe). */
async function forget(tx: Db, userId: string): Promise<void> {
  await tx.commentReaction.deleteMany({ where: { userId } });
  await tx.accessRequest.deleteMany({ where: { userId } });
  await tx.discussionEvent.updateMany({ where: { authorId: userId }, data: { authorId: null } });
  await tx.discussion.updateMany({ where: { authorId: userId }, data: { authorId: null } });
}
