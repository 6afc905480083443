import { setTimeout as sleep } from "node:timers/promises";

/** Of the worker's event loop, to everything that the tasks of one party print; of the rest all others live. */
const SHARE = 0.1;
/** To all parties together, however many there are. */
const SHARE_OF_ALL = 0.5;
/** Shorter pauses than timers can tell apart are gathered. */
const PAUSE_MIN_MS = 5;

/** Until when the output of each party is not read, for those that pause. */
const pauses = new Map<string, number>();

/**
 * Keeps what it takes to read the output of a party's tasks to a share of the worker's event loop: what was costly is followed by a pause
 * that is as much longer, whatever made it costly. All tasks of the party wait for it, and nobody else's.
 */
export class LogShare {
  readonly #party: string;

  /** @param party whose task it is, as places are shared (decision 072) */
  constructor(party: string) {
    this.#party = party;
  }

  /** Does `work` with a piece of output, and then makes the pause that is due. */
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
