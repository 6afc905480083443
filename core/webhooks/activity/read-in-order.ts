import type pg from "pg";
import { withConnection } from "../../db.ts";

/**
 * Runs a query that needs the first few rows in the order of an index. The planner uses the index only if it knows how many
 * rows there are: for a recently begun day it has no statistics, and would read and sort all of them.
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
