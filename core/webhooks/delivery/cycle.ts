import { setTimeout as delay } from "node:timers/promises";
import { log } from "../../log.ts";

const RETRY_MS = 500;
/** Timers accept at most 24 days. */
const LONGEST_MS = 3_600_000;

export class Cycle {
  readonly #what: string;
  readonly #work: () => Promise<number>;
  readonly #pauseMs: () => number;
  #at = 0;
  #isStopping = false;
  #awake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  /**
   * @param work returns the milliseconds until the next run
   * @param pauseMs returns the minimum time between two runs
   */
  constructor(what: string, pauseMs: () => number, work: () => Promise<number>) {
    this.#what = what;
    this.#pauseMs = pauseMs;
    this.#work = work;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#awake();
    await this.#running;
  }

  within(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (at >= this.#at) return;
    this.#at = at;
    this.#awake();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#at = Number.POSITIVE_INFINITY;
      try {
        this.within(await this.#work());
      } catch (error) {
        log().warn({ err: error }, `cannot ${this.#what}; trying again`);
        await delay(RETRY_MS);
        this.within(0);
      }
      await delay(this.#pauseMs());
      for (let left = this.#left(); left > 0 && !this.#isStopping; left = this.#left()) await this.#sleep(left);
    }
  }

  #left(): number {
    return Math.min(LONGEST_MS, this.#at - performance.now());
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#awake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
