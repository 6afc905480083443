import { pool } from "../../db.ts";
import { newOrderedId } from "../../ids.ts";
import { SPACE_LOG_CHANNEL } from "../stages.ts";

/** Limits of a Space's stored log: the last bytes, in at most this many pieces. */
export const SPACE_LOG_MAX_BYTES = 256 * 1024;
const PIECES_MAX = 2_000;
/** Pruned every so many pieces, not with every line. */
const PRUNE_EVERY = 64;
const appended = new Map<string, number>();

/** Appends pieces to the log of a Space, notifies its followers, and now and then deletes the oldest. */
export async function appendSpaceLog(repoId: string, ...texts: string[]): Promise<void> {
  // A Space deleted meanwhile has no log.
  await pool().query(
    `WITH added AS (
       INSERT INTO space_log (repo_id, id, text) SELECT repo.id, piece.id, piece.text
         FROM repo, unnest($2::text[], $3::text[]) AS piece (id, text) WHERE repo.id = $1 RETURNING repo_id
     ) SELECT pg_notify($4, repo_id) FROM (SELECT DISTINCT repo_id FROM added) AS one`,
    [repoId, texts.map(() => newOrderedId()), texts.map(storable), SPACE_LOG_CHANNEL],
  );
  const count = (appended.get(repoId) ?? 0) + texts.length;
  appended.set(repoId, count % PRUNE_EVERY);
  if (count >= PRUNE_EVERY) await pruneSpaceLog(repoId);
}

async function pruneSpaceLog(repoId: string): Promise<void> {
  await pool().query(
    `DELETE FROM space_log WHERE repo_id = $1 AND id <= (
       SELECT id FROM (
         SELECT id, sum(octet_length(text)) OVER w AS bytes, row_number() OVER w AS pieces FROM space_log WHERE repo_id = $1
         WINDOW w AS (ORDER BY id DESC)
       ) AS newest WHERE bytes > $2 OR pieces > $3 ORDER BY id DESC LIMIT 1)`,
    [repoId, SPACE_LOG_MAX_BYTES, PIECES_MAX],
  );
}

/** Postgres stores no NUL. */
const storable = (text: string): string => text.replaceAll("\0", "\u{fffd}").toWellFormed();
