import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { isPoolExhausted } from "../db.ts";

/** The time that an address may use at once. Other callers may use this time multiplied by their weight. */
const BURST_MS = 50;
const WAIT_MAX_MS = 10_000;
/** All paced callers of one kind together get at most this share of the process's time. */
const PACED_SHARE = 0.25;
const WAITING_MAX_MS = WAIT_MAX_MS * PACED_SHARE;
const REMEMBERED_MAX = 50_000;

const SENDING_SHARE = 0.1;
const SENT_BYTES_PER_MS = 100_000;
const SERVED_MS = 250;

const MEASURE_EVERY_MS = 200;
const NEWEST_WEIGHT = 0.5;
const BUSY_UTILIZATION = 0.8;
/** Measurements show a flood too late. So admitted work is also counted, for each of these moments (S137). */
const MOMENT_MS = 200;
const ADMITTED_MAX_MS = 500;

/** Protocol requests come from the servers of sites, which act for many people. */
const WEIGHTS = { address: 1, account: 5, protocol: 5 } as const;
export type PartyKind = keyof typeof WEIGHTS;
export const partyKinds = Object.keys(WEIGHTS) as PartyKind[];

export type PaceOptions = {
  percent: number;
  isBusy: () => boolean;
  now?: () => number;
};

type Admission = { waitMs: number } | { retryAfterSeconds: number };

type Balance = { paidUntil: number; isPaced: boolean };
const NOBODY = { key: "", at: Number.NEGATIVE_INFINITY };

/** The generic cell rate algorithm (ITU-T I.371, S137). A caller stays paced until it asks for less than its share. */
export class RequestPace {
  readonly #share: number;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  readonly #balances = new Map<string, Balance>();
  readonly #waitingOf = new Map<string, number>();
  readonly #waiting = { address: 0, account: 0, protocol: 0 };
  readonly #nextAt = { address: 0, account: 0, protocol: 0 };
  #momentEndsAt = Number.NEGATIVE_INFINITY;
  #admittedMs = 0;
  #last = NOBODY;
  #lastOther = NOBODY;
  #sendAt = 0;

  constructor({ percent, isBusy, now = () => performance.now() }: PaceOptions) {
    this.#share = percent / 100;
    this.#isBusy = isBusy;
    this.#now = now;
  }

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

  giveBack(key: string, workMs: number, kind: PartyKind = "address"): void {
    const balance = this.#balances.get(key);
    if (balance) balance.paidUntil = Math.max(this.#now(), balance.paidUntil - workMs / WEIGHTS[kind] / this.#share);
  }

  charge(key: string, workMs: number, kind: PartyKind = "address"): void {
    const balance = this.#balances.get(key);
    if (balance) balance.paidUntil = Math.max(this.#now(), balance.paidUntil) + workMs / WEIGHTS[kind] / this.#share;
  }

  /**
   * While others are served, long responses to anonymous callers get a tenth of the process's time (S137).
   * @returns the wait in milliseconds
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

  /** Leaves room for others if a few callers have full queues. */
  #mayWait(key: string, workMs: number, kind: PartyKind): boolean {
    return (this.#waitingOf.get(key) ?? 0) + workMs <= WAITING_MAX_MS - this.#waiting[kind];
  }

  #remember(key: string, balance: Balance): void {
    this.#balances.delete(key);
    this.#balances.set(key, balance);
    if (this.#balances.size > REMEMBERED_MAX) this.#balances.delete(this.#balances.keys().next().value as string);
  }
}

/** The result uses an average, because a pool that is exhausted for a moment does not make the process busy. */
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
