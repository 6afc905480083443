import { db, inTransaction } from "../../../db.ts";
import { Prisma } from "../../../generated/prisma/client.ts";
import { requireRoom } from "../../../storage/hold-storage.ts";
import type { Repo } from "../../repos/repo.ts";
import { requireWritableRepo } from "./record-lfs-object.ts";
import { xorbsOf } from "./xorbs-of-files.ts";

/**
 * The caller must have checked the rights to read the source and to write to the target. The source needs no lock, because
 * deleted content stays for two days (decision 038).
 * @param mayStill checks the rights again after the waits (S114, S135)
 */
export async function copyLfsObjects(
  source: Pick<Repo, "id">,
  target: Pick<Repo, "id">,
  oids: readonly string[],
  { isHeld = false, mayStill }: { isHeld?: boolean; mayStill?: () => Promise<void> } = {},
): Promise<void> {
  const files = await db().xetFile.findMany({ where: { repoId: source.id, oid: { in: [...oids] } }, select: { hash: true } });
  const hashes = files.map(({ hash }) => hash);
  const xorbs = [...(await xorbsOf(source.id, hashes))];
  await mayStill?.();
  const [from, to] = [Prisma.sql`repo_id = ${source.id}`, target.id];
  await inTransaction(
    async (tx) => {
      await tx.$executeRaw`SELECT FROM repo WHERE id = ${to} FOR KEY SHARE`;
      const { owner } = await requireWritableRepo(tx, to);
      // The owner's lock comes first, as in an upload. Another order could deadlock.
      if (!isHeld) await requireRoom(owner, 0, "these files", { tx });
      await tx.$executeRaw`
        INSERT INTO xet_xorb (repo_id, hash, location, has_headers, starts_at, size_bytes, chunks, is_named)
        SELECT ${to}, hash, location, has_headers, starts_at, size_bytes, chunks, true FROM xet_xorb WHERE ${from} AND hash = ANY (${xorbs})
        ORDER BY hash ON CONFLICT (repo_id, hash) DO UPDATE SET is_named = true`;
      await tx.$executeRaw`
        INSERT INTO xet_file (repo_id, hash, oid, size_bytes, terms, record_bytes)
        SELECT ${to}, hash, oid, size_bytes, terms, record_bytes FROM xet_file WHERE ${from} AND hash = ANY (${hashes})
        ON CONFLICT DO NOTHING`;
      await tx.$executeRaw`
        INSERT INTO xet_chunk (repo_id, hash, xorb_hash, file_hash)
        SELECT ${to}, hash, xorb_hash, file_hash FROM xet_chunk WHERE ${from} AND file_hash = ANY (${hashes}) AND xorb_hash = ANY (${xorbs})
        ON CONFLICT DO NOTHING`;
      await tx.$executeRaw`
        INSERT INTO lfs_object (repo_id, oid, size_bytes, location)
        SELECT ${to}, oid, size_bytes, location FROM lfs_object WHERE ${from} AND oid = ANY (${[...oids]})
        ON CONFLICT DO NOTHING`;
      if (!isHeld) await requireRoom(owner, 0, "these files", { tx });
    },
    { timeout: 60_000 },
  );
}
