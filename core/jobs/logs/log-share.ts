import { setTimeout as sleep } from "node:timers/promises";

const SHARE = 0.1;
const SHARE_OF_ALL = 0.5;
const PAUSE_MIN_MS = 5;

const pauses = new Map<string, number>();

/** The longer a piece of work took, the longer all tasks of the caller pause. */
export class LogShare {
  readonly #party: string;

  /** @param party a party of the fair queues (decision 072) */
  constructor(party: string) {
    this.#party = party;
  }

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
