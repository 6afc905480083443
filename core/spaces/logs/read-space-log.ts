import { pool } from "../../db.ts";

/** A piece of a Space's output: some lines. */
export type SpaceLogPiece = { id: string; at: Date; text: string };

/** In one response. */
export const PIECES_MAX = 500;

/**
 * The stored log of a Space, oldest first. The caller has checked that it may be read.
 * @param after the id of a known piece; without it the latest ones
 */
export async function readSpaceLog(repoId: string, { after }: { after?: string } = {}): Promise<SpaceLogPiece[]> {
  const { rows } = await pool().query<SpaceLogPiece>(
    after === undefined
      ? `SELECT * FROM (SELECT id, at, text FROM space_log WHERE repo_id = $1 ORDER BY id DESC LIMIT ${PIECES_MAX}) AS latest ORDER BY id`
      : `SELECT id, at, text FROM space_log WHERE repo_id = $1 AND id > $2 ORDER BY id LIMIT ${PIECES_MAX}`,
    after === undefined ? [repoId] : [repoId, after],
  );
  return rows;
}
