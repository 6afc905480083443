import { type Db, db, inTransaction } from "../../../db.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { settleUpload } from "../../../storage/hold-storage.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import type { LfsObjectId } from "../lfs-object.ts";

/** Notes that storage is about to hold something that no repository has: if nothing comes of it, the sweep removes it. */
export async function noteLfsLeftover(location: string): Promise<void> {
  await db().lfsLeftover.upsert({ where: { location }, create: { location }, update: { createdAt: new Date() } });
}

/**
 * Before the parts of an upload are joined: nobody else is sent to its place from now on, where they could put other bytes while these
 * are verified. The room that is held for it stays held, under a name of its own.
 * @returns the hold's id
 */
export async function noteJoining(location: string, holdId: string): Promise<string> {
  const own = `${holdId} at ${location}`;
  await inTransaction(async (tx) => {
    const { count } = await tx.lfsLeftover.updateMany({ where: { location, holdId }, data: { holdId: own } });
    if (count > 0) await tx.storageHold.updateMany({ where: { id: holdId }, data: { id: own } });
  });
  return own;
}

/**
 * Gives a repository an object whose content was proven to be what its hash says. Everybody who is about to add or remove the last
 * reason to keep what lies at a location holds its lock, so that the sweep never removes what was just given to somebody.
 * @param keep puts the content in its place
 * @param options.holdId of the hold on its owner's room, which ends with this
 * @throws ServiceError `not_found` for a repository that was deleted meanwhile, `forbidden` for one that takes nothing any more,
 * `storage_full` when its owner has no room by now
 */
export async function recordLfsObject(
  repoId: string,
  { oid, size }: LfsObjectId,
  location: string,
  { keep, holdId }: { keep?: () => Promise<void>; holdId: string },
): Promise<void> {
  await inTransaction(async (tx) => {
    await lockLfsLocation(tx, location);
    await tx.$executeRaw`SELECT FROM repo WHERE id = ${repoId} FOR KEY SHARE`;
    const repo = await requireOpen(tx, repoId);
    const isThere = (await tx.lfsObject.count({ where: { repoId, oid } })) > 0;
    if (!isThere) await settleUpload(tx, repo.owner, holdId, size);
    await tx.lfsObject.createMany({ data: [{ repoId, oid, sizeBytes: size, location }], skipDuplicates: true });
    // After all that may meet somebody else's locks, since it is done once (inTransaction).
    await keep?.();
    // Of two uploads of the same at once, the other one's may count; ours is then a leftover.
    await tx.$executeRaw(
      Prisma.sql`DELETE FROM lfs_leftover WHERE location = ${location} AND EXISTS (SELECT FROM lfs_object WHERE location = ${location})`,
    );
  });
}

/** @throws ServiceError `not_found`, `forbidden` */
export async function requireOpen(tx: Db, repoId: string): Promise<Repo> {
  const repo = await readRepo(repoId, tx);
  if (!repo) throw notFound("Repository");
  if (repo.isReadOnly) throw new ServiceError("forbidden", "This repository is read-only.");
  return repo;
}

/** An upload that a client takes past us. */
type PastUs = LfsObjectId & {
  repoId: string;
  kind: "basic" | "multipart";
  /** Whose it is. Each account has a place of its own: what one puts there, or ends, is nothing of another's (S137). */
  party: string | undefined;
};

/** The name of the room that is held for it. */
export function uploadHoldId({ repoId, oid, size, kind, party }: PastUs): string {
  return `lfs ${repoId} ${oid} ${size} ${kind} ${party}`;
}

/**
 * Where a client is to upload past us: where it was sent before, if it asks again. Otherwise each address would take the room that is
 * held for one.
 * @param newLocation if there is none yet
 */
export async function claimUpload(holdId: string, newLocation: string): Promise<{ location: string; uploadId: string | null }> {
  const [claimed] = await db().$queryRaw<{ location: string; uploadId: string | null }[]>`
    INSERT INTO lfs_leftover (location, hold_id) VALUES (${newLocation}, ${holdId})
    ON CONFLICT (hold_id) DO UPDATE SET created_at = now() RETURNING location, upload_id AS "uploadId"`;
  return claimed as { location: string; uploadId: string | null };
}

/** Notes the upload in parts that a client is given addresses of. @returns false when another request was first, with another one */
export async function noteUploadId(holdId: string, before: string | null, uploadId: string): Promise<boolean> {
  const { count } = await db().lfsLeftover.updateMany({ where: { holdId, uploadId: before }, data: { uploadId } });
  return count > 0;
}

/** Held until the transaction ends. */
export async function lockLfsLocation(tx: Db, location: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`lfs ${location}`}, 0))`;
}
