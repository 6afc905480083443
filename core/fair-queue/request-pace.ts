import { performance } from "node:perf_hooks";

/** How much of the process's time a party may use at once before it is paced, in milliseconds: of an address, five pages. */
const BURST_MS = 50;
const WAIT_MAX_MS = 10_000;
/** How many requests wait at once. Each holds a connection and no more. A party has no more of them than are left for others. */
const WAITING_MAX = 1_000;
const REMEMBERED_MAX = 50_000;

const MEASURE_EVERY_MS = 200;
/** How much the newest measurement counts. With one every 200 ms, the average covers about the last half second. */
const NEWEST_WEIGHT = 0.5;
const BUSY_UTILIZATION = 0.8;
/**
 * Or so much work was let in within a fifth of a second: two and a half times what there is time for. Measurements show it when it is too late: thousands
 * of requests fit into one packet each of a single connection (HTTP pipelining), and took the process for 20 seconds (S137).
 */
const MOMENT_MS = 200;
const LET_IN_MAX_MS = 500;

export type PaceOptions = {
  /** The share of the process's time that a party gets while the process is busy, 1 to 100. */
  percent: number;
  isBusy: () => boolean;
  /** A clock in milliseconds, for tests. */
  now?: () => number;
};

/** How long a request waits, in milliseconds; or when its client may try again. */
export type Admission = { waitMs: number } | { retryAfterSeconds: number };

/** When a party will have paid for everything that it has asked for, at its pace; and whether it is paced. */
type Account = { paidUntil: number; isPaced: boolean };

/**
 * Paces parties (an address, or an account) while the process is busy (S137): each gets a part of the process's time, and what exceeds it
 * waits. While the process has time for everybody, nobody is paced. A paced party stays paced until it has asked for less than its part for
 * a while, so that the flood does not come back each time that the process recovers.
 *
 * It is the generic cell rate algorithm (ITU-T I.371), a token bucket that keeps one number for each party.
 */
export class RequestPace {
  readonly #share: number;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #waitingOf = new Map<string, number>();
  #waiting = 0;
  #momentEndsAt = Number.NEGATIVE_INFINITY;
  #letInMs = 0;

  constructor({ percent, isBusy, now = () => performance.now() }: PaceOptions) {
    this.#share = percent / 100;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  /**
   * @param workMs about how long the process works for the request
   * @param discount by which this party's part is larger
   */
  admit(key: string, workMs: number, discount = 1): Admission {
    const now = this.#now();
    const costMs = workMs / discount;
    const burst = BURST_MS / this.#share;
    const known = this.#accounts.get(key);
    const account = known && known.paidUntil > now ? known : { paidUntil: now, isPaced: false };
    const paidUntil = account.paidUntil + costMs / this.#share;
    const waitMs = Math.max(0, paidUntil - now - burst);
    if (waitMs > 0 && !account.isPaced && !this.#isFlooded(now) && !this.#isBusy()) {
      this.#remember(key, { paidUntil: now + burst, isPaced: false });
      this.#letInMs += workMs;
      return { waitMs: 0 };
    }
    const isPaced = account.isPaced || waitMs > 0;
    if (waitMs > WAIT_MAX_MS || (waitMs > 0 && !this.#mayWait(key))) {
      this.#remember(key, { ...account, isPaced });
      return { retryAfterSeconds: Math.ceil(waitMs / 1_000) };
    }
    this.#remember(key, { paidUntil, isPaced });
    this.#letInMs += workMs;
    return { waitMs };
  }

  /** Gives back what a request was counted for that turned out to be no burden. */
  giveBack(key: string, workMs: number, discount = 1): void {
    const account = this.#accounts.get(key);
    if (account) account.paidUntil = Math.max(this.#now(), account.paidUntil - workMs / discount / this.#share);
  }

  #isFlooded(now: number): boolean {
    if (now >= this.#momentEndsAt) [this.#momentEndsAt, this.#letInMs] = [now + MOMENT_MS, 0];
    return this.#letInMs >= LET_IN_MAX_MS;
  }

  /** Waits among the others that wait. */
  async wait(key: string, ms: number): Promise<void> {
    this.#waiting += 1;
    this.#waitingOf.set(key, (this.#waitingOf.get(key) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#waiting -= 1;
    const left = (this.#waitingOf.get(key) ?? 1) - 1;
    if (left > 0) this.#waitingOf.set(key, left);
    else this.#waitingOf.delete(key);
  }

  /** As places are shared (fair-queue.ts): a few parties that wait for all they may leave room for others. */
  #mayWait(key: string): boolean {
    return (this.#waitingOf.get(key) ?? 0) < WAITING_MAX - this.#waiting;
  }

  #remember(key: string, account: Account): void {
    this.#accounts.delete(key);
    this.#accounts.set(key, account);
    if (this.#accounts.size > REMEMBERED_MAX) this.#accounts.delete(this.#accounts.keys().next().value as string);
  }
}

/** Measures from now on whether this process's event loop has little time left (NEWEST_WEIGHT says over how long). */
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
