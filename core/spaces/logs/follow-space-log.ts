import { followTail, type Tail } from "../../tail.ts";
import { SPACE_LOG_CHANNEL } from "../stages.ts";
import { PIECES_MAX, readSpaceLog, type SpaceLogPiece } from "./read-space-log.ts";

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

/** The stored log of a Space, then what it prints, until `signal` aborts. The caller has checked that it may be read. */
export async function* followSpaceLog(repoId: string, signal: AbortSignal): AsyncGenerator<readonly SpaceLogPiece[]> {
  for await (const { entries } of followTail(spaceLogs, repoId, { signal })) if (entries.length > 0) yield entries;
}
