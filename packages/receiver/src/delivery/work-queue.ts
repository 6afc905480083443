/** So many at once, so many waiting for their turn. */
export class WorkQueue {
  readonly #concurrency: number;
  readonly #maxQueued: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ concurrency, maxQueued }: { concurrency: number; maxQueued: number }) {
    this.#concurrency = concurrency;
    this.#maxQueued = maxQueued;
  }

  get isFull(): boolean {
    return this.#running >= this.#concurrency && this.#waiting.length >= this.#maxQueued;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, so that nobody overtakes it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
