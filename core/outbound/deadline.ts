import { OutboundFailure } from "./request.ts";

/** The two clocks of a request; each aborts it with the reason of the phase that it is in. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #begin = performance.now();
  #phaseBegin = this.#begin;
  #reason = "";
  readonly #total: NodeJS.Timeout;
  readonly #connecting: NodeJS.Timeout;

  constructor(totalMs: number, connectMs: number) {
    const end = () => this.#abort.abort(OutboundFailure.timedOut(this.#reason));
    this.#total = setTimeout(end, totalMs);
    this.#connecting = setTimeout(end, connectMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins a phase. @returns the milliseconds of the one before. */
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
    clearTimeout(this.#total);
    clearTimeout(this.#connecting);
  }
}
