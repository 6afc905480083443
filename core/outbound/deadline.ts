import { OutboundFailure } from "./request.ts";

/** Each timer aborts with the reason of the current phase. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #begin = performance.now();
  #phaseBegin = this.#begin;
  #reason = "";
  readonly #total: NodeJS.Timeout;
  readonly #connecting: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;

  constructor(totalMs: number, connectMs: number) {
    this.#total = setTimeout(this.#timeOut, totalMs);
    this.#connecting = setTimeout(this.#timeOut, connectMs);
  }

  readonly #timeOut = () => this.end(OutboundFailure.timedOut(this.#reason));

  end(reason: OutboundFailure): void {
    this.#abort.abort(reason);
  }

  /** After this call, the request ends if the other side is silent for this long. */
  startSilence(silenceMs: number): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(this.#timeOut, silenceMs);
  }

  stopSilence(): void {
    clearTimeout(this.#silence);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** @returns the duration of the previous phase in milliseconds */
  enter(reasonOfTimeout: string): number {
    const now = performance.now();
    const elapsed = Math.round(now - this.#phaseBegin);
    this.#phaseBegin = now;
    this.#reason = reasonOfTimeout;
    return elapsed;
  }

  endConnecting(): void {
    clearTimeout(this.#connecting);
  }

  elapsedMs(): number {
    return Math.round(performance.now() - this.#begin);
  }

  clear(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    clearTimeout(this.#connecting);
  }
}

/**
 * For work that cannot be aborted.
 * @throws the reason of the abort
 */
export async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  // A failure after the abort must not count as an unhandled rejection.
  waiting.catch(() => undefined);
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
