import { listen } from "../../notifications.ts";
import { noteWaiting } from "../controls/wake-space.ts";
import { readSpaceRuntime, type SpaceRuntime } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";

const POLL_MS = 500;
/** A woken Space waits for a slot only while somebody waits for the Space. */
const NOTE_MS = 5_000;

const watches = new Map<string, Watch>();

function announce(repoId: string): void {
  for (const watch of repoId === "" ? watches.values() : [watches.get(repoId)]) watch?.check();
}

export async function awaitRuntime(
  repoId: string,
  isAwaited: (runtime: SpaceRuntime) => boolean,
  { until, signal }: { until: number; signal?: AbortSignal },
): Promise<SpaceRuntime | undefined> {
  await listen(SPACE_CHANNEL, announce);
  const watch = watches.get(repoId) ?? new Watch(repoId);
  watches.set(repoId, watch);

  const { promise, resolve, reject } = Promise.withResolvers<SpaceRuntime | undefined>();
  let latest: Reading | undefined;
  const notify = (reading: Reading) => {
    latest = reading;
    if ("error" in reading) reject(reading.error);
    else if (!reading.runtime || isAwaited(reading.runtime) || isOver()) resolve(reading.runtime);
  };
  const isOver = () => performance.now() >= until || signal?.aborted === true;
  const end = () => {
    if (latest) notify(latest);
  };
  const timer = setTimeout(end, Math.max(0, until - performance.now()));
  signal?.addEventListener("abort", end);
  watch.add(notify);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    watch.remove(notify);
  }
}

type Reading = { runtime: SpaceRuntime | undefined } | { error: unknown };

class Watch {
  readonly #repoId: string;
  /** Each waiter with the first check whose result counts for it. Earlier checks began before the waiter asked. */
  readonly #waiting = new Map<(reading: Reading) => void, number>();
  #checks = 0;
  #isChecking = false;
  #isAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(repoId: string) {
    this.#repoId = repoId;
  }

  add(notify: (reading: Reading) => void): void {
    this.#waiting.set(notify, this.#checks + 1);
    this.check();
  }

  remove(notify: (reading: Reading) => void): void {
    this.#waiting.delete(notify);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    if (watches.get(this.#repoId) === this) watches.delete(this.#repoId);
  }

  check(): void {
    if (this.#isChecking) {
      this.#isAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#isChecking = true;
    this.#isAgain = false;
    const check = ++this.#checks;
    void this.#read().then((reading) => {
      this.#isChecking = false;
      for (const [notify, first] of [...this.#waiting]) if (check >= first) notify(reading);
      if (this.#isAgain) this.check();
      else if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.check(), POLL_MS);
    });
  }

  async #read(): Promise<Reading> {
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
