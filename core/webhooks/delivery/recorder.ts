import { setTimeout as delay } from "node:timers/promises";
import { databaseCodes, isDatabaseDown } from "../../database-errors.ts";
import { log } from "../../log.ts";
import { notify } from "../../notifications.ts";
import { ACTIVITY_CHANNEL, DELIVERY_CHANNEL } from "../vocabulary.ts";
import type { ClaimedDelivery, Done, EventLease, Step } from "./delivery.ts";
import { eventPool } from "./delivery-pool.ts";
import { isTemporary } from "./record-deliveries.ts";
import { recordOutcomes } from "./record-outcomes.ts";

/** Results wait this long, so that one statement records many. */
const BATCH_WAIT_MS = 50;
const MANY = 64;
const BATCH_MAX = 512;
const RETRY_MS = 500;
/** After these retries, the batch is split, because its own data may be the cause. */
const RETRIES = 20;
const EVENT_TRIES = 3;
const NOTIFY_MS = 250;

/** Keeps results while the database is unavailable (S122). */
export class Recorder {
  readonly #results = new Map<ClaimedDelivery, Step>();
  readonly #ended = new Set<EventLease>();
  readonly #failed = new Map<string, number>();
  readonly #release: (batch: readonly Done[], ended: readonly EventLease[]) => void;
  #running: Promise<void> | undefined;
  #stopWaiting: () => void = () => undefined;

  /** @param release gets the outcomes that no longer have to be held, even if they could not be recorded */
  constructor(release: (batch: readonly Done[], ended: readonly EventLease[]) => void) {
    this.#release = release;
  }

  get size(): number {
    return this.#results.size;
  }

  /** Replaces an earlier result of the delivery that is not recorded yet. */
  add(delivery: ClaimedDelivery, step: Step): void {
    this.#results.set(delivery, step);
    this.#run();
  }

  end(lease: EventLease): void {
    this.#ended.add(lease);
    this.#run();
  }

  #run(): void {
    if (this.#results.size + this.#ended.size >= MANY) this.#stopWaiting();
    this.#running ??= this.#recordAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #recordAll(): Promise<void> {
    while (this.#results.size + this.#ended.size > 0) {
      if (this.#results.size + this.#ended.size < MANY) await this.#waitForMore();
      const batch = [...this.#results].slice(0, BATCH_MAX).map(([delivery, step]) => ({ delivery, step, lease: delivery.lease }));
      for (const { delivery } of batch) this.#results.delete(delivery);
      const ended = [...this.#ended, ...completedLeases(batch)];
      this.#ended.clear();
      await this.#recordBatch(batch, ended);
      this.#reportRecorded(batch, ended);
    }
  }

  #waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, BATCH_WAIT_MS);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #recordBatch(batch: readonly Done[], ended: readonly EventLease[]): Promise<void> {
    for (let retries = 0; ; ) {
      try {
        return await recordOutcomes(
          batch,
          ended.filter(({ isGivenUp }) => !isGivenUp),
        );
      } catch (error) {
        // A lease may expire during the pause, and another worker may repeat the delivery.
        if (isDatabaseDown(error) || (isTemporary(error) && ++retries <= RETRIES)) {
          await delay(RETRY_MS);
          continue;
        }
        if (batch.length > 1) {
          // One delivery that cannot be recorded must not block the others.
          const half = Math.ceil(batch.length / 2);
          await this.#recordBatch(batch.slice(0, half), []);
          return this.#recordBatch(batch.slice(half), ended);
        }
        const [done] = batch;
        log().error({ err: error, deliveryId: done?.delivery.id }, "an attempt cannot be recorded; its claim will expire");
        if (!done) return;
        if (done.delivery.lease) await this.#giveUp(done.delivery.lease, error as Error);
        return ended.length > 0 ? this.#recordBatch([], ended) : undefined;
      }
    }
  }

  /** An event whose own data keeps a delivery from being stored is set aside. */
  async #giveUp(lease: EventLease, error: Error): Promise<void> {
    const times = (this.#failed.get(lease.id) ?? 0) + 1;
    if (times >= EVENT_TRIES && isCausedByData(error)) {
      log().error({ err: error, eventId: lease.id }, "an event cannot be used and is set aside");
      lease.error = error.message;
      return;
    }
    this.#failed.set(lease.id, times);
    lease.isGivenUp = true;
    const seconds = Math.min(60, 2 ** times);
    await eventPool()
      .query("update event set claimed_until = now() + make_interval(secs => $3) where id = $1 and claim_id = $2", [
        ...[lease.id, lease.claimId, seconds],
      ])
      .catch((failure: unknown) =>
        log().warn(
          { err: failure, eventId: lease.id },
          "the retry of an event could not be scheduled; trying again when its lease ends",
        ),
      );
  }

  #reportRecorded(batch: readonly (Done & { lease: EventLease | null })[], ended: readonly EventLease[]): void {
    for (const { id, isGivenUp } of ended) if (!isGivenUp) this.#failed.delete(id);
    const changed = batch.filter(({ delivery, step }) => delivery.lease !== null || step.step === "attempted");
    for (const id of new Set(changed.map(({ delivery }) => delivery.webhookId))) notify(ACTIVITY_CHANNEL, id, NOTIFY_MS);
    if (batch.some(isDueAgain)) notify(DELIVERY_CHANNEL);
    for (const { delivery, lease: leaseOfBatch } of batch) {
      const { lease } = delivery;
      if (!lease) continue;
      // This worker leased the event again. The newer lease is left to expire, so that unrecorded attempts are repeated.
      if (lease !== leaseOfBatch) lease.isGivenUp = true;
      lease.open.delete(delivery.id);
      if (lease.open.size === 0 && !ended.includes(lease)) this.#ended.add(lease);
      // The queue holds the delivery under this claim, even if the lease was renewed since.
      delivery.claimId = lease.claimId;
      delivery.lease = null;
    }
    this.#release(batch, ended);
  }
}

function completedLeases(batch: readonly Done[]): EventLease[] {
  const stored = Map.groupBy(batch, ({ delivery }) => delivery.lease);
  return [...stored].flatMap(([lease, { length }]) => (lease && lease.open.size === length ? [lease] : []));
}

export const isDueAgain = ({ step }: Done): boolean =>
  step.step === "attempted" ? step.decision.again?.seconds === 0 : step.step === "postponed" && step.seconds === 0;

export function secondsUntilNext({ step }: Done): number | undefined {
  const seconds = step.step === "attempted" ? step.decision.again?.seconds : step.step === "postponed" ? step.seconds : undefined;
  return seconds === "held" ? undefined : seconds;
}

/** Postgres reports these codes about the values in a statement. No other error is the event's fault. */
const isCausedByData = (error: Error): boolean =>
  databaseCodes(error).some((code) => typeof code === "string" && /^(22|23)...$/.test(code));
