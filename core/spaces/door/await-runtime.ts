import { listen } from "../../notifications.ts";
import { readSpaceRuntime, type SpaceRuntime } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";

// A notification may be missed.
const POLL_MS = 500;

/** Who waits for news of which Space: one listener for the whole process. */
const waiting = new Map<string, Set<() => void>>();
let listening: Promise<void> | undefined;

/**
 * How a Space is doing once `isAwaited` is true of it, or as it is when the time is up; undefined for one that is no more.
 * @param signal ends the waiting early
 */
export async function awaitRuntime(
  repoId: string,
  isAwaited: (runtime: SpaceRuntime) => boolean,
  { until, signal }: { until: number; signal?: AbortSignal },
): Promise<SpaceRuntime | undefined> {
  listening ??= listen(SPACE_CHANNEL, (id) => {
    for (const wake of id === "" ? [...waiting.values()].flatMap((set) => [...set]) : (waiting.get(id) ?? [])) wake();
  });
  await listening;
  for (;;) {
    const news = nextNews(repoId, Math.min(POLL_MS, until - performance.now()), signal);
    const runtime = await readSpaceRuntime(repoId);
    if (!runtime || isAwaited(runtime) || performance.now() >= until || signal?.aborted) {
      news.forget();
      return runtime;
    }
    await news.come;
  }
}

function nextNews(repoId: string, ms: number, signal: AbortSignal | undefined): { come: Promise<void>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const set = waiting.get(repoId) ?? new Set();
  waiting.set(repoId, set);
  const forget = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", forget);
    set.delete(forget);
    if (set.size === 0 && waiting.get(repoId) === set) waiting.delete(repoId);
    resolve();
  };
  const timer = setTimeout(forget, Math.max(ms, 0));
  signal?.addEventListener("abort", forget);
  set.add(forget);
  return { come: promise, forget };
}
