import type pg from "pg";
import { withConnection } from "../../db.ts";

/**
 * Runs a query whose rows are to come in the order of an index, from which the first few are taken. The planner takes that way only as
 * long as it knows how many there are: of a day that began a while ago it has no statistics, and would rather read and sort all of them.
 */
export async function readInOrder<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
  return withConnection(async (client) => {
    await client.query(IN_ORDER);
    const { rows } = await client.query<Row>(text, values);
    await client.query("COMMIT");
    return rows;
  });
}

const IN_ORDER = `BEGIN READ ONLY; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;
