import { type Db, db } from "../../../db.ts";
import { isLfsOid, type LfsObjectId } from "../lfs-object.ts";

/** An object as a repository has it, with where storage keeps it. */
export type StoredLfsObject = LfsObjectId & { location: string };

/**
 * An object that was uploaded to this repository. Knowing the hash of what another one has gives nobody anything: rows are made by
 * uploads only, which prove that the sender has the bytes (docs/decisions/038).
 */
export async function findLfsObject(repoId: string, oid: string, tx: Db = db()): Promise<StoredLfsObject | undefined> {
  if (!isLfsOid(oid)) return undefined;
  const row = await tx.lfsObject.findUnique({
    where: { repoId_oid: { repoId, oid } },
    select: { sizeBytes: true, location: true },
  });
  return row ? { oid, size: Number(row.sizeBytes), location: row.location } : undefined;
}

export async function hasLfsObject(repoId: string, oid: string, tx: Db = db()): Promise<boolean> {
  return (await findLfsObject(repoId, oid, tx)) !== undefined;
}

const OIDS_PER_QUERY = 1_000;

/** Those of some objects that a repository has, by their hashes. */
export async function findLfsObjects(
  repoId: string,
  oids: readonly string[],
  tx: Db = db(),
): Promise<Map<string, StoredLfsObject>> {
  const found = new Map<string, StoredLfsObject>();
  for (let at = 0; at < oids.length; at += OIDS_PER_QUERY) {
    const rows = await tx.lfsObject.findMany({
      where: { repoId, oid: { in: oids.slice(at, at + OIDS_PER_QUERY) } },
      select: { oid: true, sizeBytes: true, location: true },
    });
    for (const { oid, sizeBytes, location } of rows) found.set(oid, { oid, size: Number(sizeBytes), location });
  }
  return found;
}

/**
 * The pointers whose objects a repository does not have, each once: what a push or a commit has to be refused for. One that names
 * another size than the object has is missing too, since nobody could check it out.
 */
export async function missingLfsObjects(repoId: string, pointers: readonly LfsObjectId[], tx: Db = db()): Promise<LfsObjectId[]> {
  const wanted = new Map(pointers.map((pointer) => [`${pointer.oid} ${pointer.size}`, pointer]));
  const found = await findLfsObjects(repoId, [...new Set(pointers.map(({ oid }) => oid))], tx);
  return [...wanted.values()].filter(({ oid, size }) => found.get(oid)?.size !== size);
}

/** How many bytes of large files a repository has. */
export async function lfsSizeOf(repoId: string, tx: Db = db()): Promise<number> {
  const repo = await tx.repo.findUnique({ where: { id: repoId }, select: { lfsBytes: true } });
  return Number(repo?.lfsBytes ?? 0n);
}
