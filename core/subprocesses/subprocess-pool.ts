import { ServiceError } from "../errors.ts";
import { fairQueue } from "../fair-queue/fair-queue.ts";
import { type Outcome, Subprocess, type SubprocessLimits } from "./subprocess.ts";

export type { Outcome } from "./subprocess.ts";

export type SubprocessPoolOptions = SubprocessLimits & {
  /** Of its waiting line; in snake_case. */
  name: string;
  /**
   * How many subprocesses there may be. They yield to the service, so this is about fairness: one party gets half of them at most,
   * and so do all together who are not signed in (core/fair-queue).
   */
  subprocesses: number;
};

export type AskOptions<Answer> = {
  /** What a party's places are shared among, such as a repository. */
  within?: string | undefined;
  /** Asked once there is a place: what came of the same question meanwhile. Twenty who ask it at the same time cost one turn. */
  known?: () => Outcome<Answer> | undefined;
};

/** Subprocesses beyond the first are ended when nothing was asked of them for this long. */
const IDLE_MAX_MS = 60_000;

/**
 * Subprocesses for work that takes very long on input that somebody made for that: parsers, above all. The event loop serves everybody else
 * meanwhile. Who asks waits in a fair queue: a stranger's hostile texts delay others by one turn, not by all of them (S137).
 */
export class SubprocessPool<Question, Answer> {
  readonly #options: SubprocessPoolOptions;
  /** Those at rest and those that are being started, the ones to take next at the end. */
  readonly #idle: Promise<Subprocess>[] = [];

  constructor(options: SubprocessPoolOptions) {
    this.#options = options;
  }

  /** @returns `busy` when there was no place in time */
  async ask(question: Question, { within, known }: AskOptions<Answer> = {}): Promise<Outcome<Answer>> {
    const { name, subprocesses } = this.#options;
    const work = () => known?.() ?? this.#answer(question);
    try {
      return await fairQueue({ name, places: subprocesses }).run(work, within === undefined ? {} : { within });
    } catch (error) {
      if (error instanceof ServiceError && error.code === "unavailable") return "busy";
      throw error;
    }
  }

  async #answer(question: Question): Promise<Outcome<Answer>> {
    const idle = await (this.#idle.pop() ?? this.#start());
    // One at rest may have been killed meanwhile.
    const subprocess = idle.isEnded ? await this.#start() : idle;
    const outcome = await subprocess.ask<Answer>(question);
    if (subprocess.isEnded) this.#idle.unshift(this.#start());
    else this.#rest(subprocess);
    return outcome;
  }

  /** A subprocess that cannot start is ended at once, and answers `busy`. */
  #start(): Promise<Subprocess> {
    return Subprocess.start(this.#options);
  }

  #rest(subprocess: Subprocess): void {
    const resting = Promise.resolve(subprocess);
    this.#idle.push(resting);
    setTimeout(() => {
      const index = this.#idle.indexOf(resting);
      if (index < 0 || this.#idle.length === 1) return;
      this.#idle.splice(index, 1);
      subprocess.end();
    }, IDLE_MAX_MS).unref();
  }
}
