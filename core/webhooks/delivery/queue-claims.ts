import { setTimeout as delay } from "node:timers/promises";
import { type BacklogPosition, claimBacklog, claimDeliveries, startOfBacklog } from "./claim-deliveries.ts";
import { Cycle } from "./cycle.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import type { DeliverySlots } from "./slots.ts";

/** Polling is necessary, because notifications may be missed, and leases of killed workers expire. */
export const POLL_MS = 5_000;
/** Under load, a short pause lets each query find many rows. */
export const LEAST_MS = 3;
/** The pause after a query that found due rows for which this worker has no room. Another worker may take them. */
const CROWDED_MS = 1_000;
/**
 * The pause after a query that claimed nothing. Such a query locks rows, and most slots that become free are not for those rows.
 */
const FRUITLESS_MS = 100;

export class QueueClaims {
  readonly #slots: DeliverySlots;
  readonly #begin: (delivery: ClaimedDelivery) => void;
  readonly #cycle = new Cycle(
    "claim deliveries",
    () => LEAST_MS,
    () => this.#claim(),
  );
  #backlog: BacklogPosition = startOfBacklog;
  #lookAtLanesAt = 0;
  #lookAtBacklogAt = 0;
  #isFruitless = true;
  #isRoomWanted = false;

  constructor(slots: DeliverySlots, begin: (delivery: ClaimedDelivery) => void) {
    this.#slots = slots;
    this.#begin = begin;
  }

  start(): void {
    this.#cycle.start();
  }

  stop(): Promise<void> {
    return this.#cycle.stop();
  }

  announce(): void {
    this.#lookAtLanesAt = 0;
    this.#cycle.within(0);
  }

  announceIn(milliseconds: number): void {
    this.#lookAtLanesAt = Math.min(this.#lookAtLanesAt, performance.now() + milliseconds);
    this.#cycle.within(milliseconds);
  }

  announceRoom(): void {
    if (this.#isRoomWanted) this.#cycle.within(0);
  }

  async #claim(): Promise<number> {
    // A slot may become free during the queries.
    this.#isRoomWanted = true;
    if (this.#slots.room().total <= 0) return POLL_MS;
    this.#isFruitless = true;
    const isMore = await this.#claimLanes();
    const isBacklog = await this.#claimBacklog();
    this.#isRoomWanted = isBacklog || isMore || this.#lookAtLanesAt === 0;
    if (this.#isRoomWanted && !isMore && this.#isFruitless && this.#backlog === startOfBacklog) await delay(FRUITLESS_MS);
    const until = (at: number) => (at === 0 ? CROWDED_MS : Math.max(0, at - performance.now()));
    return isMore ? 0 : Math.min(until(this.#lookAtLanesAt), until(this.#lookAtBacklogAt));
  }

  async #claimLanes(): Promise<boolean> {
    const now = performance.now();
    if (now < this.#lookAtLanesAt) return false;
    const room = this.#slots.room();
    this.#lookAtLanesAt = now + POLL_MS;
    const { rows, movedToBacklog, leftBehind, nextDueMs } = await claimDeliveries(room);
    this.#beginAll(rows);
    if (movedToBacklog > 0) this.#lookAtBacklogAt = 0;
    if (nextDueMs !== undefined) this.#lookAtLanesAt = Math.min(this.#lookAtLanesAt, performance.now() + Math.ceil(nextDueMs));
    const isMore = movedToBacklog > 0 || rows.length >= room.total;
    if (isMore || leftBehind > 0) this.#lookAtLanesAt = 0;
    return isMore;
  }

  async #claimBacklog(): Promise<boolean> {
    const room = this.#slots.room();
    const now = performance.now();
    if (room.total <= 0) return true;
    if (now < this.#lookAtBacklogAt) return false;
    const { rows, next, isEmpty } = await claimBacklog(room, this.#backlog);
    this.#backlog = next;
    this.#beginAll(rows);
    // Other workers may move rows to an empty backlog.
    if (isEmpty) this.#lookAtBacklogAt = now + POLL_MS;
    return !isEmpty;
  }

  #beginAll(rows: readonly ClaimedDelivery[]): void {
    if (rows.length > 0) this.#isFruitless = false;
    for (const row of rows) this.#begin(row);
  }
}
