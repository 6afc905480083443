import { ServiceError } from "../../errors.ts";
import { fairQueue, type Slot } from "../../fair-queue/fair-queue.ts";

/**
 * The slots for checks, which read and hash whole files. A check that has begun keeps two megabytes while it waits, so only a few of one
 * caller's may wait.
 */
const checks = fairQueue({ name: "xet_file_checks", slots: 4, waitMaxMs: 15 * 60_000, waitingMax: 16 });

/** How long a check may keep its slot while others wait. */
const TURN_MS = 500;
/**
 * How long a check may keep its place on disk while others wait: the time for 100 GB. The Python client waits for the response
 * without a limit.
 */
const STAY_MS = 10 * 60_000;

export type TurnOptions = {
  within: string;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
  /** Whether others wait for a resource that the check holds besides its slot. */
  yields: () => boolean;
  stayMs?: number;
};

/**
 * The slot of a check, which may take minutes. Between two pieces of its work, the check gives the slot to another that waits for it, and
 * continues when it is its turn again (S137). So a small upload does not wait for a large one, and nothing is checked twice.
 */
export class CheckTurn {
  readonly signal: AbortSignal;
  readonly #options: TurnOptions;
  readonly #until: number;
  #slot: Slot;
  #turnEnds = performance.now() + TURN_MS;

  private constructor(options: TurnOptions, slot: Slot) {
    [this.signal, this.#options, this.#slot] = [options.signal, options, slot];
    this.#until = performance.now() + (options.stayMs ?? STAY_MS);
  }

  /** @throws ServiceError `unavailable` */
  static async run<T>(options: TurnOptions, work: (turn: CheckTurn) => Promise<T>): Promise<T> {
    const turn = new CheckTurn(options, await checks.take({ within: options.within }));
    try {
      return await work(turn);
    } finally {
      turn.#slot();
    }
  }

  /**
   * Call it where the check holds nothing else that others could need.
   * @throws ServiceError `unavailable` when it has taken too long and others wait; the reason of the signal once it is aborted
   */
  async pass(): Promise<void> {
    this.signal.throwIfAborted();
    const now = performance.now();
    if (now > this.#until && this.#options.yields()) {
      const sentence = "Checking these files took too long, and other uploads are waiting. Upload them in several commits.";
      throw new ServiceError("unavailable", sentence, { retryAfterSeconds: 60 });
    }
    if (now < this.#turnEnds || !this.#slot.yields()) return;
    this.#slot();
    this.#slot = await checks.take({ within: this.#options.within });
    this.#turnEnds = performance.now() + TURN_MS;
    this.signal.throwIfAborted();
  }
}
