import type { Actor } from "../../../access/actor.ts";
import { readableOwners, readableWhere } from "../../../access/readable-owners.ts";
import { type Db, db } from "../../../db.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { holdRemoved } from "../../../storage/hold-storage.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { xorbsOnlyOf } from "./xorbs-of-files.ts";

export type Removal = { oids: readonly string[]; hashes: string[]; xorbs: string[]; filesBefore: number };

/** The result may reveal only copies that the actor can read, and the copy in `keeper`. */
type KnownCopies = { actor: Actor; keeper?: string | undefined };

/** Call this before locking anything, because it may take a while. */
export async function prepareRemoval(repoId: string, oids: readonly string[]): Promise<Removal> {
  const files = await db().xetFile.findMany({ where: { repoId, oid: { in: [...oids] } }, select: { hash: true } });
  const hashes = files.map(({ hash }) => hash);
  const filesBefore = await db().xetFile.count({ where: { repoId } });
  return { oids, hashes, xorbs: [...(await xorbsOnlyOf(repoId, hashes))], filesBefore };
}

/** Call this with the repository's row locked. New Xet files may consist of the xorbs that would be removed. */
export const isAsPrepared = async (tx: Db, repoId: string, { filesBefore }: Removal): Promise<boolean> =>
  (await tx.xetFile.count({ where: { repoId } })) === filesBefore;

/** Call this with the repository's row locked. */
export async function removeFiles(tx: Db, repo: Repo, { oids, hashes, xorbs }: Removal, known: KnownCopies): Promise<number> {
  const repoId = repo.id;
  await tx.xetChunk.deleteMany({ where: { repoId, fileHash: { in: hashes } } });
  await tx.xetFile.deleteMany({ where: { repoId, hash: { in: hashes } } });
  await tx.xetXorb.updateMany({ where: { repoId, hash: { in: xorbs } }, data: { isNamed: false, createdAt: new Date() } });
  const lost = await bytesOnlyHere(tx, known, repoId, oids);
  const { count } = await tx.lfsObject.deleteMany({ where: { repoId, oid: { in: [...oids] } } });
  if (count === 0) return 0;
  // The content stays in storage for a while, so it still counts. Otherwise repeated uploads could fill the disk beyond the quota
  // (decision 076).
  const freed = repo.lfsBytes - ((await readRepo(repoId, tx))?.lfsBytes ?? 0);
  await holdRemoved(tx, repo.owner, Math.min(freed, lost));
  return count;
}

/**
 * Only the last copy counts: otherwise a member could fill an organization's storage with deleted copies. Copies that the actor
 * cannot read are ignored, so that the result does not reveal them (S136). All copies are locked in order, so that one of two
 * simultaneous deletions is the last.
 */
async function bytesOnlyHere(
  tx: Db,
  { actor, keeper = "" }: KnownCopies,
  repoId: string,
  oids: readonly string[],
): Promise<number> {
  const own = Prisma.sql`own.repo_id = ${repoId} AND own.oid = ANY (${[...oids]}) AND own.location NOT LIKE 'xet:%'`;
  await tx.$executeRaw`SELECT FROM lfs_object WHERE location IN (SELECT location FROM lfs_object own WHERE ${own})
    ORDER BY repo_id, oid FOR UPDATE`;
  const readable = readableWhere("r", await readableOwners(actor, "repo.read", tx));
  const isElsewhere = (table: Prisma.Sql) => Prisma.sql`EXISTS (SELECT FROM ${table} other JOIN repo r ON r.id = other.repo_id
    WHERE other.location = own.location AND other.repo_id <> own.repo_id AND (r.id = ${keeper} OR ${readable}))`;
  const [row] = await tx.$queryRaw<{ bytes: number }[]>`
    SELECT coalesce(sum(lfs_object_bytes(own.size_bytes, own.location)), 0)::float8 AS bytes FROM lfs_object own WHERE ${own}
      AND NOT ${isElsewhere(Prisma.sql`lfs_object`)} AND NOT ${isElsewhere(Prisma.sql`xet_xorb`)}`;
  return row?.bytes ?? 0;
}
