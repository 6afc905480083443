import { listen } from "../../notifications.ts";
import { SPACE_LOG_CHANNEL } from "../stages.ts";
import { readSpaceLog, type SpaceLogPiece } from "./read-space-log.ts";

// A notification may be missed, and none comes while the connection is away.
const POLL_MS = 5_000;

/** Who follows which Space: one listener for the whole process. */
const following = new Map<string, Set<() => void>>();
let listening: Promise<void> | undefined;

/** What is kept of what a Space has printed, then what it prints, until `signal` aborts. Whoever calls has asked whether it may be read. */
export async function* followSpaceLog(repoId: string, signal: AbortSignal): AsyncGenerator<SpaceLogPiece[]> {
  listening ??= listen(SPACE_LOG_CHANNEL, (id) => {
    for (const wake of id === "" ? [...following.values()].flatMap((set) => [...set]) : (following.get(id) ?? [])) wake();
  });
  await listening;
  let wake: () => void = () => undefined;
  const onNews = () => wake();
  const set = following.get(repoId) ?? new Set();
  following.set(repoId, set.add(onNews));
  try {
    for (let after: string | undefined; !signal.aborted; ) {
      const { promise: news, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const pieces = await readSpaceLog(repoId, after === undefined ? {} : { after });
      after = pieces.at(-1)?.id ?? after ?? "";
      if (pieces.length > 0) {
        yield pieces;
        continue;
      }
      const timer = setTimeout(resolve, POLL_MS);
      signal.addEventListener("abort", onNews);
      await news;
      signal.removeEventListener("abort", onNews);
      clearTimeout(timer);
    }
  } finally {
    set.delete(onNews);
    if (set.size === 0 && following.get(repoId) === set) following.delete(repoId);
  }
}
