import { listen } from "../../notifications.ts";
import { noteWaiting } from "../controls/wake-space.ts";
import { readSpaceRuntime, type SpaceRuntime } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";

// A notification may be missed.
const POLL_MS = 500;
/** A woken Space waits for a slot only while somebody waits for it. */
const NOTE_MS = 5_000;

/** The Spaces that are being waited for: one listener for the whole process, and one query per Space for all who wait. */
const watches = new Map<string, Watch>();

function announce(repoId: string): void {
  for (const watch of repoId === "" ? watches.values() : [watches.get(repoId)]) watch?.look();
}

/**
 * The state of a Space once `isAwaited` is true for it, or when the time is up; undefined if it no longer exists.
 * @param signal ends the waiting early
 */
export async function awaitRuntime(
  repoId: string,
  isAwaited: (runtime: SpaceRuntime) => boolean,
  { until, signal }: { until: number; signal?: AbortSignal },
): Promise<SpaceRuntime | undefined> {
  await listen(SPACE_CHANNEL, announce);
  const watch = watches.get(repoId) ?? new Watch(repoId);
  watches.set(repoId, watch);

  const { promise, resolve, reject } = Promise.withResolvers<SpaceRuntime | undefined>();
  let latest: Seen | undefined;
  const hear = (seen: Seen) => {
    latest = seen;
    if ("error" in seen) reject(seen.error);
    else if (!seen.runtime || isAwaited(seen.runtime) || isOver()) resolve(seen.runtime);
  };
  const isOver = () => performance.now() >= until || signal?.aborted === true;
  // A waiter without a result gets that of the running query.
  const end = () => {
    if (latest) hear(latest);
  };
  const timer = setTimeout(end, Math.max(0, until - performance.now()));
  signal?.addEventListener("abort", end);
  watch.add(hear);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    watch.remove(hear);
  }
}

type Seen = { runtime: SpaceRuntime | undefined } | { error: unknown };

/** Watches one Space for all who wait for it: checks at once on a notification, and now and then. */
class Watch {
  readonly #repoId: string;
  /** Each waits with the number of the first check whose result it may get: an earlier check began before it asked. */
  readonly #waiting = new Map<(seen: Seen) => void, number>();
  #looks = 0;
  #isLooking = false;
  #isAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(repoId: string) {
    this.#repoId = repoId;
  }

  add(hear: (seen: Seen) => void): void {
    this.#waiting.set(hear, this.#looks + 1);
    this.look();
  }

  remove(hear: (seen: Seen) => void): void {
    this.#waiting.delete(hear);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    if (watches.get(this.#repoId) === this) watches.delete(this.#repoId);
  }

  look(): void {
    if (this.#isLooking) {
      this.#isAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#isLooking = true;
    this.#isAgain = false;
    const look = ++this.#looks;
    void this.#see().then((seen) => {
      this.#isLooking = false;
      for (const [hear, first] of [...this.#waiting]) if (look >= first) hear(seen);
      if (this.#isAgain) this.look();
      else if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.look(), POLL_MS);
    });
  }

  async #see(): Promise<Seen> {
    try {
      if (performance.now() - this.#notedAt >= NOTE_MS) {
        this.#notedAt = performance.now();
        await noteWaiting(this.#repoId);
      }
      return { runtime: await readSpaceRuntime(this.#repoId) };
    } catch (error) {
      return { error };
    }
  }
}
