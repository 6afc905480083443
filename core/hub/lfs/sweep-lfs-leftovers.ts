import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { areDeletionsHeld } from "../../housekeeping/hold-deletions.ts";
import { log } from "../../log.ts";
import { lockLfsLocation } from "./objects/record-lfs-object.ts";
import { sweepProposals } from "./proposals/drop-files.ts";
import { removeAbandonedUploads } from "./storage/local-storage.ts";
import { storageOf } from "./storage/storages.ts";

/** Content must outlast the longest upload, and the restoration of an older database that refers to it. */
export const LFS_LEFTOVER_HOURS = 48;
const BATCH = 200;

export async function sweepLfsLeftovers(stopping: AbortSignal, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - LFS_LEFTOVER_HOURS * 3_600_000);
  await attempt("xorbs that no file refers to", () => forgetUnnamedXorbs(now));
  await attempt("the files of deleted repositories", () => forgetDeletedRepos(stopping));
  const abandoned = await attempt("abandoned uploads", () => removeAbandonedUploads(before));
  await attempt("uploads for pull requests", () => sweepProposals(before, stopping));
  return (abandoned ?? 0) + (await removeLeftovers(before, stopping));
}

async function attempt<T>(what: string, step: () => Promise<T>): Promise<T | undefined> {
  return step().catch((err: unknown) => {
    log().warn({ err }, `a sweep of large files cannot remove ${what}`);
    return undefined;
  });
}

async function removeLeftovers(before: Date, stopping: AbortSignal): Promise<number> {
  let removed = 0;
  let after = "";
  for (;;) {
    const leftovers = await db().lfsLeftover.findMany({
      where: { createdAt: { lt: before }, location: { gt: after } },
      orderBy: { location: "asc" },
      take: BATCH,
    });
    for (const { location } of leftovers) {
      if (stopping.aborted || (await areDeletionsHeld())) return removed;
      const isRemoved = await removeLeftover(location, before).catch((err: unknown) => {
        log().warn({ err, location }, "a leftover of large files cannot be removed");
        return false;
      });
      if (isRemoved) removed++;
    }
    if (leftovers.length < BATCH) return removed;
    after = leftovers.at(-1)?.location ?? "";
  }
}

/** Clients resume uploads for three weeks. */
export const UNNAMED_XORB_DAYS = 30;

async function forgetUnnamedXorbs(now: Date): Promise<void> {
  const before = new Date(now.getTime() - UNNAMED_XORB_DAYS * 86_400_000);
  for (let count = BATCH; count === BATCH; ) {
    const unnamed = await db().xetXorb.findMany({
      where: { isNamed: false, createdAt: { lt: before } },
      select: { repoId: true, hash: true },
      take: BATCH,
    });
    count = unnamed.length;
    if (count > 0) await db().xetXorb.deleteMany({ where: { isNamed: false, OR: unnamed } });
  }
}

const ROWS_AT_ONCE = 1_000;

async function forgetDeletedRepos(stopping: AbortSignal): Promise<void> {
  for (const { repoId } of await db().xetRemoval.findMany({ orderBy: { createdAt: "asc" } })) {
    await attempt(`the files of the deleted repository ${repoId}`, () => forgetDeletedRepo(repoId, stopping));
  }
}

async function forgetDeletedRepo(repoId: string, stopping: AbortSignal): Promise<void> {
  for (const table of [Prisma.sql`xet_chunk`, Prisma.sql`xet_file`, Prisma.sql`xet_xorb`]) {
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; ) {
      if (stopping.aborted) return;
      count = await db().$executeRaw`
        DELETE FROM ${table} WHERE repo_id = ${repoId}
          AND hash = ANY (ARRAY(SELECT hash FROM ${table} WHERE repo_id = ${repoId} LIMIT ${ROWS_AT_ONCE}))`;
    }
  }
  await db().xetRemoval.delete({ where: { repoId } });
}

/** The location's lock prevents a repository from getting the content at this moment. */
function removeLeftover(location: string, before: Date): Promise<boolean> {
  return db().$transaction(async (tx) => {
    await lockLfsLocation(tx, location);
    // The row is locked too, because a deletion records the leftover again without the location's lock.
    const [leftover] = await tx.$queryRaw<{ uploadId: string | null; holdId: string | null }[]>`
      SELECT upload_id AS "uploadId", hold_id AS "holdId" FROM lfs_leftover
        WHERE location = ${location} AND created_at < ${before} FOR UPDATE`;
    if (!leftover) return false;
    const isObject = (await tx.lfsObject.findFirst({ where: { location }, select: { oid: true } })) !== null;
    const isNeeded = isObject || (await tx.xetXorb.findFirst({ where: { location }, select: { hash: true } })) !== null;
    if (!isNeeded) await storageOf(location).remove(location, leftover.uploadId);
    await tx.lfsLeftover.delete({ where: { location } });
    if (leftover.holdId !== null) await tx.storageHold.deleteMany({ where: { id: leftover.holdId } });
    return !isNeeded;
  });
}
