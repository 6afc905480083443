import { performance } from "node:perf_hooks";

/** How much of the process's time a party may use at once before it is paced, in milliseconds: of an address, five pages. */
const BURST_MS = 50;
const WAIT_MAX_MS = 10_000;
/** How many requests wait at once. Each holds a connection and no more. */
const WAITING_MAX = 1_000;
const REMEMBERED_MAX = 50_000;

const MEASURE_EVERY_MS = 200;
/** How much the last measurement counts: with one each 200 ms, the average is of about the last half second. */
const NEWEST_WEIGHT = 0.5;
const BUSY_UTILIZATION = 0.8;

export type PaceOptions = {
  /** Which part of the process's time a party gets while the process is busy, 1 to 100. */
  percent: number;
  isBusy: () => boolean;
  /** A clock in milliseconds, for tests. */
  now?: () => number;
};

/** How long a request waits, in milliseconds; or when its client may try again. */
export type Admission = { waitMs: number } | { retryAfterSeconds: number };

/** Until when what a party has asked for keeps it within its pace, and whether it is held to that. */
type Account = { paidUntil: number; isPaced: boolean };

/**
 * Serves parties (an address, or an account) at a pace while the process is busy (S137): each gets a part of the process's time, and
 * requests beyond it wait. While the process has time for everybody, nobody is paced. Whoever is paced stays so until they have asked
 * for less than their part for a while: the flood does not come back each time that the process recovers.
 *
 * It is the generic cell rate algorithm (ITU-T I.371), a token bucket that keeps one number for each party.
 */
export class RequestPace {
  readonly #share: number;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  #waiting = 0;

  constructor({ percent, isBusy, now = () => performance.now() }: PaceOptions) {
    this.#share = percent / 100;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  /** @param costMs about how long the process works for the request */
  admit(key: string, costMs: number): Admission {
    const now = this.#now();
    const burst = BURST_MS / this.#share;
    const known = this.#accounts.get(key);
    const account = known && known.paidUntil > now ? known : { paidUntil: now, isPaced: false };
    const paidUntil = account.paidUntil + costMs / this.#share;
    const waitMs = Math.max(0, paidUntil - now - burst);
    if (waitMs > 0 && !account.isPaced && !this.#isBusy()) {
      this.#remember(key, { paidUntil: now + burst, isPaced: false });
      return { waitMs: 0 };
    }
    const isPaced = account.isPaced || waitMs > 0;
    if (waitMs > WAIT_MAX_MS || (waitMs > 0 && this.#waiting >= WAITING_MAX)) {
      this.#remember(key, { ...account, isPaced });
      return { retryAfterSeconds: Math.ceil(waitMs / 1_000) };
    }
    this.#remember(key, { paidUntil, isPaced });
    return { waitMs };
  }

  /** Waits among the others that wait. */
  async wait(ms: number): Promise<void> {
    this.#waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#waiting -= 1;
  }

  #remember(key: string, account: Account): void {
    this.#accounts.delete(key);
    this.#accounts.set(key, account);
    if (this.#accounts.size > REMEMBERED_MAX) this.#accounts.delete(this.#accounts.keys().next().value as string);
  }
}

/** Measures from now on whether this process's event loop has little time left, averaged over about a second. */
export function measureBusy(): () => boolean {
  let average = 0;
  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    average += NEWEST_WEIGHT * (utilization - average);
  }, MEASURE_EVERY_MS).unref();
  return () => average >= BUSY_UTILIZATION;
}
