import { databaseCodes, QUERY_CANCELED } from "../database-errors.ts";
import { type Db, db } from "../db.ts";
import { ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";

const SEARCH_MS = 2_000;
/** A quarter of the connections, so that searches leave the others free (S137). */
const searches = fairQueue({ name: "database_searches", slots: 4 });

/**
 * For a search that no index bounds.
 * @throws ServiceError `unavailable` if the search, or the searches before it, took too long
 */
export const inSearch = <T>(read: (tx: Db) => Promise<T>): Promise<T> => searches.run(() => inSearchTime(read));

export async function inSearchTime<T>(read: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await db().$transaction(async (tx) => {
      await tx.$executeRawUnsafe(`SET LOCAL statement_timeout = ${SEARCH_MS}`);
      return read(tx);
    });
  } catch (error) {
    if (!databaseCodes(error).includes(QUERY_CANCELED)) throw error;
    const description = "The search took too long. Try again in a few seconds, or search for something else.";
    throw new ServiceError("unavailable", description, { retryAfterSeconds: 5, cause: error });
  }
}
