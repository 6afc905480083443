import { setTimeout as sleep } from "node:timers/promises";

/** Share of the worker's event loop for the output of all tasks of one caller; everything else gets the rest. */
const SHARE = 0.1;
/** For all callers together, however many there are. */
const SHARE_OF_ALL = 0.5;
/** Pauses that are too short for a timer are added up. */
const PAUSE_MIN_MS = 5;

/** The time until which each pausing caller's output is not read. */
const pauses = new Map<string, number>();

/**
 * Limits reading the output of one caller's tasks to a share of the worker's event loop: the more time a piece of work took, the longer is
 * the pause after it. All tasks of that caller wait during the pause, and no others.
 */
export class LogShare {
  readonly #party: string;

  /** @param party the caller whose task it is, as in a fair queue (decision 072) */
  constructor(party: string) {
    this.#party = party;
  }

  /** Does `work` with a piece of output, then pauses for as long as its cost requires. */
  async take<T>(work: () => T, share = SHARE): Promise<T> {
    const begin = performance.now();
    const result = work();
    const now = performance.now();
    for (const [party, until] of pauses) if (until <= now) pauses.delete(party);
    const parties = pauses.size + (pauses.has(this.#party) ? 0 : 1);
    const pause = (now - begin) * (1 / Math.min(share, SHARE_OF_ALL / parties) - 1);
    const until = Math.max(now, pauses.get(this.#party) ?? 0) + pause;
    pauses.set(this.#party, until);
    if (until - now >= PAUSE_MIN_MS) await sleep(until - now);
    return result;
  }
}
