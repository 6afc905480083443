import { anonymous } from "../../../access/actor.ts";
import { db, inTransaction } from "../../../db.ts";
import { log } from "../../../log.ts";
import { lockRepo } from "../../repos/read-repos.ts";
import { isAsPrepared, prepareRemoval, removeFiles } from "../objects/remove-files.ts";

/** Deletes all of the files or none. `keeper` is the repository that has them now. */
export async function dropFiles(storeId: string, oids: readonly string[], keeper?: string): Promise<void> {
  const removal = await prepareRemoval(storeId, oids);
  await inTransaction(async (tx) => {
    const store = await lockRepo(tx, storeId);
    if (!store || !(await isAsPrepared(tx, storeId, removal))) return;
    // The lock waits for a commit that claims one of these files, whose claim is then found.
    await tx.$executeRaw`SELECT FROM lfs_object WHERE repo_id = ${storeId} AND oid = ANY (${[...oids]}) ORDER BY oid FOR UPDATE`;
    const isClaimed = (await tx.proposedFile.count({ where: { storeId, oid: { in: [...oids] } } })) > 0;
    if (!isClaimed) await removeFiles(tx, store, removal, { actor: anonymous, keeper });
  });
}

const STORES_AT_ONCE = 100;
const FILES_AT_ONCE = 500;

export async function sweepProposals(before: Date, stopping: AbortSignal): Promise<void> {
  let after = "";
  for (let count = STORES_AT_ONCE; count === STORES_AT_ONCE && !stopping.aborted; ) {
    const stores = await db().repo.findMany({
      where: { proposedToId: { not: null }, id: { gt: after } },
      orderBy: { id: "asc" },
      take: STORES_AT_ONCE,
      select: { id: true },
    });
    for (const { id } of stores) {
      await sweepStore(id, before).catch((err: unknown) =>
        log().warn({ err, store: id }, "uploads for pull requests cannot be swept"),
      );
    }
    count = stores.length;
    after = stores.at(-1)?.id ?? "";
  }
}

async function sweepStore(id: string, before: Date): Promise<void> {
  const unused = await db().$queryRaw<{ oid: string }[]>`
    SELECT oid FROM lfs_object o WHERE repo_id = ${id} AND created_at < ${before}
      AND NOT EXISTS (SELECT FROM proposed_file p WHERE p.store_id = o.repo_id AND p.oid = o.oid) LIMIT ${FILES_AT_ONCE}`;
  if (unused.length > 0)
    await dropFiles(
      id,
      unused.map(({ oid }) => oid),
    );
  // Waits for concurrent uploads, and then sees their files.
  await db().$executeRaw`
    DELETE FROM repo r WHERE id = ${id} AND proposed_to_id IS NOT NULL AND updated_at < ${before}
      AND NOT EXISTS (SELECT FROM lfs_object WHERE repo_id = r.id) AND NOT EXISTS (SELECT FROM xet_xorb WHERE repo_id = r.id)
      AND NOT EXISTS (SELECT FROM xet_file WHERE repo_id = r.id)`;
}
