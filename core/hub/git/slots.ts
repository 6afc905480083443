import { ServiceError } from "../../errors.ts";

/**
 * How many of something may be under way in this process at the same time. Who comes when all are taken waits for a moment, and is
 * then told to come again: many that are done soon are better than more that are never done.
 */
export class Slots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waitMs: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor({ max, waitingMax, waitMs }: { max: number; waitingMax: number; waitMs: number }) {
    this.#max = max;
    this.#waitingMax = waitingMax;
    this.#waitMs = waitMs;
  }

  /** How many are under way. */
  get taken(): number {
    return this.#taken;
  }

  /** @returns what gives the slot back; calling it again does nothing. @throws ServiceError `unavailable` */
  async take(): Promise<() => void> {
    if (this.#taken < this.#max) this.#taken += 1;
    else await this.#wait();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      // The slot goes from hand to hand, so that nobody who comes later is first.
      if (next) next();
      else this.#taken -= 1;
    };
  }

  #wait(): Promise<void> {
    const busy = () =>
      new ServiceError("unavailable", "Too much is asked of git at this moment. Try again in a few seconds.", {
        retryAfterSeconds: 5,
      });
    if (this.#waiting.length >= this.#waitingMax) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
        reject(busy());
      }, this.#waitMs);
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(proceed);
    });
  }
}
