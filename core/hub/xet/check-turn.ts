import { ServiceError } from "../../errors.ts";
import { fairQueue, type Slot } from "../../fair-queue/fair-queue.ts";

/** A waiting check keeps two megabytes in memory. */
const checks = fairQueue({ name: "xet_file_checks", slots: 4, waitMaxMs: 15 * 60_000, waitingMax: 16 });

const TURN_MS = 500;
/** Enough to check 100 GB. */
const STAY_MS = 10 * 60_000;

export type TurnOptions = {
  within: string;
  signal: AbortSignal;
  /** Others wait for a resource that the check holds besides the slot. */
  mustYield: () => boolean;
  stayMs?: number;
};

/** A check may take minutes, so it gives its slot to others in between (S137). */
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

  static async run<T>(options: TurnOptions, work: (turn: CheckTurn) => Promise<T>): Promise<T> {
    const turn = new CheckTurn(options, await checks.take({ within: options.within }));
    try {
      return await work(turn);
    } finally {
      turn.#slot();
    }
  }

  /**
   * Call this where the check holds nothing that others need.
   * @throws ServiceError `unavailable` if the check has taken too long
   * @throws the reason of the signal if it is aborted
   */
  async pass(): Promise<void> {
    this.signal.throwIfAborted();
    const now = performance.now();
    if (now > this.#until && this.#options.mustYield()) {
      const sentence = "Checking these files took too long, and other uploads are waiting. Upload them in several commits.";
      throw new ServiceError("unavailable", sentence, { retryAfterSeconds: 60 });
    }
    if (now < this.#turnEnds || !this.#slot.mustYield()) return;
    this.#slot();
    this.#slot = await checks.take({ within: this.#options.within });
    this.#turnEnds = performance.now() + TURN_MS;
    this.signal.throwIfAborted();
  }
}
