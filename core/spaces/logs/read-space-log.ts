import { pool } from "../../db.ts";
import { followTail, type Tail } from "../../tail.ts";
import { SPACE_LOG_CHANNEL } from "../stages.ts";

type SpaceLogPiece = { id: string; at: Date; text: string };

const PIECES_MAX = 500;

/**
 * The caller must have checked access.
 * @param after the ID of a known piece. By default, the latest pieces are read.
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

const spaceLogs: Tail<SpaceLogPiece, null, string> = {
  name: "space log",
  channel: SPACE_LOG_CHANNEL,
  async read(repoId, after) {
    const entries = await readSpaceLog(repoId, after === undefined ? {} : { after });
    const isCut = after !== undefined && entries.length === PIECES_MAX;
    return { entries, end: entries.at(-1)?.id ?? after ?? "", isCut, state: null };
  },
  cursorOf: ({ id }) => id,
  bytesOf: ({ text }) => Buffer.byteLength(text),
};

export async function* followSpaceLog(repoId: string, signal: AbortSignal): AsyncGenerator<readonly SpaceLogPiece[]> {
  for await (const { entries } of followTail(spaceLogs, repoId, { signal })) if (entries.length > 0) yield entries;
}
