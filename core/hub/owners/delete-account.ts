import { type Actor, actorId } from "../../access/actor.ts";
import { deleteUser } from "../../accounts/users/delete-user.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import type { Db } from "../../db.ts";
import { removeOwned } from "./remove-owned.ts";

/**
 * Deletes a user with what they own here: repositories, each with its event, collections and webhooks. What they said in the
 * repositories of others stays, without their name; so do the commits they made there.
 * @throws ServiceError as `deleteUser`: then nothing is deleted
 */
export async function deleteAccount(actor: Actor, userId: string, from: RequestOrigin): Promise<void> {
  await deleteUser(actor, userId, from, async (tx) => {
    await removeOwned(tx, userId, actorId(actor) === userId ? null : actorId(actor));
    await forget(tx, userId);
  });
}

/**
 * An author who is no more is null; answers call them `ghost`
 * (docs/specification/repositories-and-git.md#discussions-and-pull-requests).
 */
async function forget(tx: Db, userId: string): Promise<void> {
  await tx.commentReaction.deleteMany({ where: { userId } });
  await tx.accessRequest.deleteMany({ where: { userId } });
  await tx.discussionEvent.updateMany({ where: { authorId: userId }, data: { authorId: null } });
  await tx.discussion.updateMany({ where: { authorId: userId }, data: { authorId: null } });
}
