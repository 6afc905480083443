import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { isPoolExhausted } from "../db.ts";

/**
 * How much of the process's time an address may use at once before it is paced, in milliseconds: about five pages. Other callers may use
 * their weight times as much.
 */
const BURST_MS = 50;
const WAIT_MAX_MS = 10_000;
/** The part of the process's time for all paced callers of one kind together: the individual parts of many callers add up to too much. */
const PACED_SHARE = 0.25;
/** How much work of one kind of caller may wait at once. No caller may have more work waiting than is left for others. */
const WAITING_MAX_MS = WAIT_MAX_MS * PACED_SHARE;
const REMEMBERED_MAX = 50_000;

/** The part of the process's time for long responses to all anonymous callers together, while others are served. */
const SENDING_SHARE = 0.1;
/** About the number of bytes that the process sends in a millisecond: on two cores, sending 46 MB a second took half of its time. */
const SENT_BYTES_PER_MS = 100_000;
/** How long after its request a caller counts as being served. */
const SERVED_MS = 250;

const MEASURE_EVERY_MS = 200;
/** The weight of the newest measurement. With one every 200 ms, the average covers about the last half second. */
const NEWEST_WEIGHT = 0.5;
const BUSY_UTILIZATION = 0.8;
/**
 * The process also counts as busy when this much work was admitted within a fifth of a second: two and a half times as much as fits.
 * Measurements alone show this too late: thousands of requests on a single connection, many of them in one packet (HTTP pipelining),
 * blocked the process for 20 seconds (S137).
 */
const MOMENT_MS = 200;
const ADMITTED_MAX_MS = 500;

/**
 * An account gets five times the part of an address. So does an address at the OAuth endpoints (`protocol`), where one site's server sends
 * requests for many people.
 */
const WEIGHTS = { address: 1, account: 5, protocol: 5 } as const;
export type PartyKind = keyof typeof WEIGHTS;
export const partyKinds = Object.keys(WEIGHTS) as PartyKind[];

export type PaceOptions = {
  /** The share of the process's time that an address gets while the process is busy, 1 to 100. */
  percent: number;
  isBusy: () => boolean;
  /** A clock in milliseconds, for tests. */
  now?: () => number;
};

/** How long a request waits, in milliseconds; or when its client may retry. */
type Admission = { waitMs: number } | { retryAfterSeconds: number };

/** The time at which a caller will have paid, at its pace, for all its requests; and whether it is paced. */
type Balance = { paidUntil: number; isPaced: boolean };
const NOBODY = { key: "", at: Number.NEGATIVE_INFINITY };

/**
 * Paces callers (addresses or accounts) while the process is busy (S137): each gets a part of the process's time, and requests beyond it
 * wait. While the process has time for everybody, it starts to pace nobody. But a paced caller stays paced until it has asked for less than
 * its part for a while, so that a flood does not return each time that the process recovers. Waiting requests continue one after another:
 * otherwise callers that were paced at the same moment would also come back at the same moment.
 *
 * Each caller, and each kind of caller, is paced by the generic cell rate algorithm (ITU-T I.371), a token bucket that keeps one number.
 */
export class RequestPace {
  readonly #share: number;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  readonly #balances = new Map<string, Balance>();
  /** How much work waits, in milliseconds: per caller, and per kind of caller. */
  readonly #waitingOf = new Map<string, number>();
  readonly #waiting = { address: 0, account: 0, protocol: 0 };
  /** When the next waiting request may continue. */
  readonly #nextAt = { address: 0, account: 0, protocol: 0 };
  #momentEndsAt = Number.NEGATIVE_INFINITY;
  #admittedMs = 0;
  /** The last request, and the last one before it of another caller. */
  #last = NOBODY;
  #lastOther = NOBODY;
  /** When the next piece of a long response may be sent. */
  #sendAt = 0;

  constructor({ percent, isBusy, now = () => performance.now() }: PaceOptions) {
    this.#share = percent / 100;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  /**
   * @param key the caller
   * @param workMs about how long the process works for the request
   */
  admit(key: string, workMs: number, kind: PartyKind = "address"): Admission {
    const now = this.#now();
    if (key !== this.#last.key) this.#lastOther = this.#last;
    this.#last = { key, at: now };
    const costMs = workMs / WEIGHTS[kind];
    const burst = BURST_MS / this.#share;
    const known = this.#balances.get(key);
    const balance = known && known.paidUntil > now ? known : { paidUntil: now, isPaced: false };
    const paidUntil = balance.paidUntil + costMs / this.#share;
    const waitMs = Math.max(0, paidUntil - now - burst);
    if (waitMs > 0 && !balance.isPaced && !this.#isFlooded(now) && !this.#isBusy()) {
      this.#remember(key, { paidUntil: now + burst, isPaced: false });
      this.#admittedMs += workMs;
      return { waitMs: 0 };
    }
    const isPaced = balance.isPaced || waitMs > 0;
    if (waitMs > WAIT_MAX_MS || (waitMs > 0 && !this.#mayWait(key, workMs, kind))) {
      this.#remember(key, { ...balance, isPaced });
      return { retryAfterSeconds: Math.ceil(waitMs / 1_000) };
    }
    this.#remember(key, { paidUntil, isPaced });
    this.#admittedMs += workMs;
    return { waitMs };
  }

  /** Refunds the estimate of a request that turned out to cost nothing. */
  giveBack(key: string, workMs: number, kind: PartyKind = "address"): void {
    const balance = this.#balances.get(key);
    if (balance) balance.paidUntil = Math.max(this.#now(), balance.paidUntil - workMs / WEIGHTS[kind] / this.#share);
  }

  /** Charges the work that a request needed beyond its estimate. */
  charge(key: string, workMs: number, kind: PartyKind = "address"): void {
    const balance = this.#balances.get(key);
    if (balance) balance.paidUntil = Math.max(this.#now(), balance.paidUntil) + workMs / WEIGHTS[kind] / this.#share;
  }

  /**
   * For the next piece of a long response to an anonymous caller. It is sent at once unless another caller has just sent a request. Then
   * the pieces of all such responses are sent one after another, so that together they use a tenth of the process's time (S137).
   * @returns how long the piece waits, in milliseconds
   */
  sendAfter(key: string, bytes: number): number {
    const now = this.#now();
    const other = key === this.#last.key ? this.#lastOther : this.#last;
    if (now - other.at > SERVED_MS) return 0;
    const at = Math.max(now, this.#sendAt);
    this.#sendAt = at + bytes / SENT_BYTES_PER_MS / SENDING_SHARE;
    return at - now;
  }

  #isFlooded(now: number): boolean {
    if (now >= this.#momentEndsAt) [this.#momentEndsAt, this.#admittedMs] = [now + MOMENT_MS, 0];
    return this.#admittedMs >= ADMITTED_MAX_MS;
  }

  /** Waits for the request's time, and then for its turn among all requests of its kind whose time has come. */
  async wait(key: string, workMs: number, waitMs: number, kind: PartyKind = "address"): Promise<void> {
    this.#countWaiting(key, workMs, kind);
    await delay(waitMs);
    const at = Math.max(this.#now(), this.#nextAt[kind]);
    this.#nextAt[kind] = at + workMs / PACED_SHARE;
    if (at > this.#now()) await delay(at - this.#now());
    this.#countWaiting(key, -workMs, kind);
  }

  #countWaiting(key: string, workMs: number, kind: PartyKind): void {
    this.#waiting[kind] += workMs;
    const own = (this.#waitingOf.get(key) ?? 0) + workMs;
    if (own > 0) this.#waitingOf.set(key, own);
    else this.#waitingOf.delete(key);
  }

  /** Shared like slots (fair-queue.ts): a few callers with full queues leave room for others. */
  #mayWait(key: string, workMs: number, kind: PartyKind): boolean {
    return (this.#waitingOf.get(key) ?? 0) + workMs <= WAITING_MAX_MS - this.#waiting[kind];
  }

  #remember(key: string, balance: Balance): void {
    this.#balances.delete(key);
    this.#balances.set(key, balance);
    if (this.#balances.size > REMEMBERED_MAX) this.#balances.delete(this.#balances.keys().next().value as string);
  }
}

/**
 * Starts measuring whether this process's event loop has little time left, or requests keep waiting for a database connection. It averages
 * over about half a second (NEWEST_WEIGHT), because ten quick statements at once do not mean that the process is busy.
 */
export function measureBusy(): () => boolean {
  let average = 0;
  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    average += NEWEST_WEIGHT * ((isPoolExhausted() ? 1 : utilization) - average);
  }, MEASURE_EVERY_MS).unref();
  return () => average >= BUSY_UTILIZATION;
}
