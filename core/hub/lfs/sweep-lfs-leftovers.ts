import { db } from "../../db.ts";
import { log } from "../../log.ts";
import { lockLfsLocation } from "./objects/record-lfs-object.ts";
import { removeAbandonedUploads } from "./storage/local-storage.ts";
import { storageOf } from "./storage/storages.ts";

/** How long what nobody has is kept: longer than an upload may take, and time enough to bring back an older database. */
export const LFS_LEFTOVER_HOURS = 48;
const BATCH = 200;

/**
 * Removes from storage what no repository has: objects of deleted repositories, and uploads that came to nothing.
 * @param stopping ends it between two of them.
 * @returns how many went.
 */
export async function sweepLfsLeftovers(stopping: AbortSignal, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - LFS_LEFTOVER_HOURS * 3_600_000);
  let removed = await removeAbandonedUploads(before);
  let after = "";
  for (;;) {
    const leftovers = await db().lfsLeftover.findMany({
      where: { createdAt: { lt: before }, location: { gt: after } },
      orderBy: { location: "asc" },
      take: BATCH,
    });
    for (const { location } of leftovers) {
      if (stopping.aborted) return removed;
      // One that cannot be removed is tried again by the next sweep, and holds up no other.
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

/** Under the lock, so that nobody is given it at this moment (record-lfs-object.ts). */
function removeLeftover(location: string, before: Date): Promise<boolean> {
  return db().$transaction(async (tx) => {
    await lockLfsLocation(tx, location);
    const leftover = await tx.lfsLeftover.findFirst({ where: { location, createdAt: { lt: before } } });
    if (!leftover) return false;
    const isNeeded = (await tx.lfsObject.findFirst({ where: { location }, select: { oid: true } })) !== null;
    if (!isNeeded) await storageOf(location).remove(location, leftover.uploadId);
    await tx.lfsLeftover.delete({ where: { location } });
    if (leftover.holdId !== null) await tx.storageHold.deleteMany({ where: { id: leftover.holdId } });
    return !isNeeded;
  });
}
