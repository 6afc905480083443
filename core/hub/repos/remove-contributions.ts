import { db } from "../../db.ts";
import { Prisma } from "../../generated/prisma/client.ts";

const [ROWS_AT_A_TIME, UPLOADS_AT_A_TIME] = [1_000, 20];

/**
 * Strangers can contribute too much for one transaction (S137).
 * @param which an SQL condition for the repository `r`
 */
export async function removeContributions(which: Prisma.Sql): Promise<void> {
  const discussions = Prisma.sql`FROM repo r JOIN discussion d ON d.repo_id = r.id`;
  // The limit in the lateral join keeps PostgreSQL from reading the comments of all repositories.
  const ofDiscussion = Prisma.sql`(SELECT id FROM discussion_event WHERE discussion_id = d.id LIMIT ${ROWS_AT_A_TIME + 1})`;
  await removePortions("discussion_event", Prisma.sql`e.id ${discussions} CROSS JOIN LATERAL ${ofDiscussion} e WHERE ${which}`);
  await removePortions("discussion", Prisma.sql`d.id ${discussions} WHERE ${which}`);
  const uploads = Prisma.sql`u.id FROM repo r JOIN repo u ON u.proposed_to_id = r.id WHERE ${which}`;
  await removePortions("repo", uploads, UPLOADS_AT_A_TIME);
}

async function removePortions(table: string, found: Prisma.Sql, most = ROWS_AT_A_TIME): Promise<void> {
  for (;;) {
    const rows = await db().$queryRaw<{ id: string }[]>`SELECT ${found} LIMIT ${most + 1}`;
    if (rows.length <= most) return;
    await db().$executeRaw`DELETE FROM ${Prisma.raw(table)} WHERE id = ANY (${rows.slice(0, most).map(({ id }) => id)})`;
  }
}
