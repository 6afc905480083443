import { type Db, db, inTransaction } from "../../../db.ts";
import { notFound, ServiceError } from "../../../errors.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { holdStorage, settleUpload } from "../../../storage/hold-storage.ts";
import { requireChangeable } from "../../git/refs/require-changeable.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { countedBytes, type LfsObjectId } from "../lfs-object.ts";
import { lfsStorage } from "../storage/storages.ts";

/** Call this before storing content, so that the sweep finds content without a repository. */
export async function noteLfsLeftover(location: string): Promise<void> {
  await db().lfsLeftover.upsert({ where: { location }, create: { location }, update: { createdAt: new Date() } });
}

/**
 * Afterwards no client gets a URL that could replace the content.
 * @returns the new ID of the reservation
 */
export async function markJoining(location: string, holdId: string): Promise<string> {
  const own = `${holdId} at ${location}`;
  await inTransaction(async (tx) => {
    const { count } = await tx.lfsLeftover.updateMany({ where: { location, holdId }, data: { holdId: own } });
    if (count > 0) await tx.storageHold.updateMany({ where: { id: holdId }, data: { id: own } });
  });
  return own;
}

/**
 * The caller has verified the hash. The first reference to a location is added under its lock, so that the sweep does not delete
 * new content.
 * @param keep moves the content to the location
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
    const repo = await requireWritableRepo(tx, repoId);
    const isThere = (await tx.lfsObject.count({ where: { repoId, oid } })) > 0;
    if (!isThere) await settleUpload(tx, repo.owner, holdId, countedBytes(size));
    await tx.lfsObject.createMany({ data: [{ repoId, oid, sizeBytes: size, location }], skipDuplicates: true });
    // `inTransaction` may repeat this function, and `keep` cannot be repeated, so `keep` comes late.
    await keep?.();
    // Another upload of this object was recorded first, so this content is left over.
    await tx.$executeRaw(
      Prisma.sql`DELETE FROM lfs_leftover WHERE location = ${location} AND EXISTS (SELECT FROM lfs_object WHERE location = ${location})`,
    );
  });
}

export async function requireWritableRepo(tx: Db, repoId: string): Promise<Repo> {
  const repo = await readRepo(repoId, tx);
  if (!repo) throw notFound("Repository");
  requireChangeable(repo);
  if (repo.proposedToId !== null) await requireFewFiles(tx, repoId);
  return repo;
}

/** A repository's deletion deletes all proposed files in one transaction (S137). */
export const PROPOSED_FILES_MAX = 10_000;

async function requireFewFiles(tx: Db, storeId: string): Promise<void> {
  const [files] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM (SELECT FROM lfs_object WHERE repo_id = ${storeId} LIMIT ${PROPOSED_FILES_MAX}) AS files`;
  if ((files?.count ?? 0) < PROPOSED_FILES_MAX) return;
  const most = PROPOSED_FILES_MAX.toLocaleString("en");
  throw new ServiceError(
    "storage_full",
    `Your pull requests to one repository can have at most ${most} uploaded files. Delete the commits of closed ones.`,
  );
}

type DirectUpload = LfsObjectId & {
  repoId: string;
  kind: "basic" | "multipart";
  /** Names the uploader, so that nobody can replace or end another user's upload (S137). */
  party: string | undefined;
};

export function uploadHoldId({ repoId, oid, size, kind, party }: DirectUpload): string {
  return `lfs ${repoId} ${oid} ${size} ${kind} ${party}`;
}

/** A repeated request gets the first request's location. A reservation without a location gets `newLocation`. */
export async function claimUpload(holdId: string, newLocation: string): Promise<{ location: string; uploadId: string | null }> {
  const [claimed] = await db().$queryRaw<{ location: string; uploadId: string | null }[]>`
    INSERT INTO lfs_leftover (location, hold_id) VALUES (${newLocation}, ${holdId})
    ON CONFLICT (hold_id) DO UPDATE SET created_at = now() RETURNING location, upload_id AS "uploadId"`;
  return claimed as { location: string; uploadId: string | null };
}

export async function noteUploadId(holdId: string, before: string | null, uploadId: string): Promise<boolean> {
  const { count } = await db().lfsLeftover.updateMany({ where: { holdId, uploadId: before }, data: { uploadId } });
  return count > 0;
}

export async function lockLfsLocation(tx: Db, location: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`lfs ${location}`}, 0))`;
}

/** The caller has checked the permission. */
export async function storeLfsObject(repoId: string, object: LfsObjectId, content: AsyncIterable<Uint8Array>): Promise<void> {
  const repo = await readRepo(repoId);
  if (!repo) throw notFound("Repository");
  const hold = await holdStorage(repo.owner, countedBytes(object.size), "this file");
  try {
    const storage = lfsStorage();
    const location = storage.newLocation(repoId, object.oid);
    await noteLfsLeftover(location);
    const received = await storage.receive(location, object, content);
    try {
      await recordLfsObject(repoId, object, location, { keep: received.keep, holdId: hold.id });
    } catch (error) {
      await received.discard();
      throw error;
    }
  } finally {
    await hold.release();
  }
}
