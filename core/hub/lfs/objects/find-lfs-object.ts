import { type Db, db } from "../../../db.ts";
import { isLfsOid, type LfsObjectId } from "../lfs-object.ts";

export type StoredLfsObject = LfsObjectId & { location: string; holderId: string };

/** Knowing the hash of another repository's object gives no access (decision 038). */
export async function findLfsObject(repoId: string, oid: string, tx: Db = db()): Promise<StoredLfsObject | undefined> {
  if (!isLfsOid(oid)) return undefined;
  const row = await tx.lfsObject.findUnique({
    where: { repoId_oid: { repoId, oid } },
    select: { sizeBytes: true, location: true },
  });
  return row ? { oid, size: Number(row.sizeBytes), location: row.location, holderId: repoId } : undefined;
}

const OIDS_PER_QUERY = 1_000;

/** Of several repositories with an object, the first in the list counts. */
export async function findLfsObjects(
  repoIds: string | readonly string[],
  oids: readonly string[],
  tx: Db = db(),
): Promise<Map<string, StoredLfsObject>> {
  const holders = typeof repoIds === "string" ? [repoIds] : [...new Set(repoIds)];
  const found = new Map<string, StoredLfsObject>();
  for (let at = 0; at < oids.length; at += OIDS_PER_QUERY) {
    const rows = await tx.lfsObject.findMany({
      where: { repoId: { in: holders }, oid: { in: oids.slice(at, at + OIDS_PER_QUERY) } },
      select: { repoId: true, oid: true, sizeBytes: true, location: true },
    });
    for (const { repoId: holderId, oid, sizeBytes, location } of rows) {
      if (!found.has(oid) || holderId === holders[0]) found.set(oid, { oid, size: Number(sizeBytes), location, holderId });
    }
  }
  return found;
}

export async function lfsSizeOf(repoId: string, tx: Db = db()): Promise<number> {
  const repo = await tx.repo.findUnique({ where: { id: repoId }, select: { lfsBytes: true } });
  return Number(repo?.lfsBytes ?? 0n);
}
