import { db, inTransaction } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { holdRemoved } from "../../storage/hold-storage.ts";

const ROWS_AT_A_TIME = 1_000;
/** This is low, because a store has up to 10,000 files. */
export const UPLOADS_AT_A_TIME = 5;
export const FILES_AT_A_TIME = 5_000;

/** S137: strangers can contribute too much for one transaction. `which` is an SQL condition for the repository `r`. */
export async function removeContributions(which: Prisma.Sql): Promise<void> {
  const discussions = Prisma.sql`FROM repo r JOIN discussion d ON d.repo_id = r.id`;
  // Without the limit in the lateral join, PostgreSQL would read the comments of all repositories.
  const ofDiscussion = Prisma.sql`(SELECT id FROM discussion_event WHERE discussion_id = d.id LIMIT ${ROWS_AT_A_TIME + 1})`;
  await removePortions("discussion_event", Prisma.sql`e.id ${discussions} CROSS JOIN LATERAL ${ofDiscussion} e WHERE ${which}`);
  await removePortions("discussion", Prisma.sql`d.id ${discussions} WHERE ${which}`);
  const uploads = Prisma.sql`u.id FROM repo r JOIN repo u ON u.proposed_to_id = r.id WHERE ${which}`;
  await removePortions("repo", uploads, UPLOADS_AT_A_TIME);
  await removeLargeFiles(which);
}

/** The files count until they are gone from storage, like those of a deleted repository (decision 076). */
async function removeLargeFiles(which: Prisma.Sql): Promise<void> {
  const most = Prisma.sql`LIMIT ${FILES_AT_A_TIME + 1}`;
  const files = Prisma.sql`FROM repo r CROSS JOIN LATERAL (SELECT ctid FROM lfs_object WHERE repo_id = r.id ${most}) o WHERE ${which}`;
  for (;;) {
    const [more] = await db().$queryRaw<{ id: string }[]>`SELECT r.owner_id AS id ${files} LIMIT 1 OFFSET ${FILES_AT_A_TIME}`;
    if (!more) return;
    await inTransaction(async (tx) => {
      const stored = async () => {
        const [sum] = await tx.$queryRaw<
          { bytes: number }[]
        >`SELECT sum(r.lfs_bytes)::float8 AS bytes FROM repo r WHERE ${which}`;
        return sum?.bytes ?? 0;
      };
      const before = await stored();
      await tx.$executeRaw`DELETE FROM lfs_object WHERE ctid = ANY (ARRAY(SELECT o.ctid ${files} LIMIT ${FILES_AT_A_TIME}))`;
      // A file in chunks still counts as xorbs, so only the difference is reserved.
      await holdRemoved(tx, more, before - (await stored()));
    });
  }
}

async function removePortions(table: string, found: Prisma.Sql, most = ROWS_AT_A_TIME): Promise<void> {
  for (;;) {
    const rows = await db().$queryRaw<{ id: string }[]>`SELECT ${found} LIMIT ${most + 1}`;
    if (rows.length <= most) return;
    await db().$executeRaw`DELETE FROM ${Prisma.raw(table)} WHERE id = ANY (${rows.slice(0, most).map(({ id }) => id)})`;
  }
}
