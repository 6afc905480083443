import { setTimeout as sleep } from "node:timers/promises";

/** Of the worker's event loop, to everything that one task prints; of the rest all others live. */
const SHARE = 0.1;
/** Shorter pauses than timers can tell apart are gathered. */
const PAUSE_MIN_MS = 5;

/**
 * Keeps what it takes to read a task's output to a share of the worker's event loop: what was costly is followed by a pause that is as
 * much longer, whatever made it costly.
 */
export class LogShare {
  #owed = 0;

  /** What is done with a piece of output, and after it the pause that is due. */
  async take<T>(work: () => T, share = SHARE): Promise<T> {
    const begin = performance.now();
    const result = work();
    this.#owed += (performance.now() - begin) * (1 / share - 1);
    if (this.#owed >= PAUSE_MIN_MS) {
      const pause = this.#owed;
      this.#owed = 0;
      await sleep(pause);
    }
    return result;
  }
}
