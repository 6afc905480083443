import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseDown } from "../../db.ts";
import { log } from "../../log.ts";
import {
  type BacklogPosition,
  claimBacklog,
  claimDeliveries,
  LEASE_SECONDS,
  renewDeliveries,
  startOfBacklog,
} from "./claim-deliveries.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import { type Limits, Places, standingShown } from "./places.ts";
import { type Done, isPassing } from "./record-deliveries.ts";
import { recordOutcomes } from "./record-outcomes.ts";
import { sendDelivery } from "./send-delivery.ts";
import { tellAttempt } from "./tell-attempt.ts";
import { WaitingDeliveries } from "./waiting-deliveries.ts";

/** Rows that become due are not announced, and an announcement may be missed. */
const POLL_MS = 1_000;
const HEARTBEAT_MS = (LEASE_SECONDS / 4) * 1_000;
/** The least time between claims, so that under load each returns many. */
const CLAIM_INTERVAL_MS = 3;
/** How often an unreachable database is tried again while answers wait to be recorded. */
const RECORD_RETRY_MS = 500;
/** How often a passing error is retried; the batch itself may be its cause after all. */
const RECORD_RETRIES = 20;
const RECORD_BATCH_MAX = 256;

/**
 * Claims due deliveries, sends them and records the results, many at a time, until it is stopped. Any number of engines share
 * the queue of one database.
 *
 * A delivery holds a slot from its claim until it is recorded, so that what one process holds is bounded, even while the
 * database is down.
 */
export class DeliveryEngine {
  readonly #places: Places;
  readonly #underWay = new Map<string, ClaimedDelivery>();
  readonly #waiting = new WaitingDeliveries();
  readonly #done: Done[] = [];
  #recording: Promise<void> | undefined;
  #isStopping = false;
  #isAnnounced = false;
  /** When to look at the lanes next if nothing is announced. */
  #lookAtLanesAt = 0;
  #isRoomFree = false;
  #wakeUp: () => void = () => undefined;
  #cycling: Promise<void> = Promise.resolve();
  #heartbeat: NodeJS.Timeout | undefined;
  #backlog: BacklogPosition = startOfBacklog;
  #lookAtBacklogAt = 0;
  /** Whether a claim left rows behind for lack of room: then a slot that becomes free triggers a claim. */
  #isRoomWanted = false;
  #drained: () => void = () => undefined;

  constructor(limits?: Limits) {
    this.#places = new Places(limits);
  }

  start(): void {
    this.#cycling = this.#cycle();
    this.#heartbeat = setInterval(() => this.#renew(), HEARTBEAT_MS);
  }

  /** Says that rows may be due. */
  announce(): void {
    this.#isAnnounced = true;
    this.#lookAtLanesAt = 0;
    this.#wakeUp();
  }

  /** Stops claiming, and returns once all deliveries under way are recorded. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.announce();
    await this.#cycling;
    while (this.#underWay.size > 0) await new Promise<void>((drained) => (this.#drained = drained));
    clearInterval(this.#heartbeat);
  }

  async #cycle(): Promise<void> {
    while (!this.#isStopping) {
      this.#isAnnounced = false;
      this.#isRoomFree = false;
      let isMore = false;
      try {
        isMore = await this.#claim();
      } catch (error) {
        log().warn({ err: error }, "cannot claim deliveries; trying again");
      }
      if (isMore || this.#isAnnounced || this.#isRoomFree) await delay(CLAIM_INTERVAL_MS);
      else await this.#rest();
    }
  }

  async #rest(): Promise<void> {
    if (this.#isAnnounced || this.#isRoomFree || this.#isStopping) return;
    await new Promise<void>((rested) => {
      const timer = setTimeout(rested, POLL_MS);
      this.#wakeUp = () => {
        clearTimeout(timer);
        rested();
      };
    });
  }

  /** @returns whether there may be more to claim at once */
  async #claim(): Promise<boolean> {
    this.#waiting.takeStale((delivery) => this.#giveBack(delivery));
    if (this.#places.room().total <= 0) {
      this.#isRoomWanted = true;
      return false;
    }
    const isMore = await this.#claimLanes();
    const isBacklog = await this.#claimBacklog();
    this.#isRoomWanted = isBacklog || isMore || this.#lookAtLanesAt === 0;
    return isMore;
  }

  /** @returns whether there may be more to claim at once */
  async #claimLanes(): Promise<boolean> {
    const now = performance.now();
    if (now < this.#lookAtLanesAt) return false;
    const room = this.#places.room();
    this.#lookAtLanesAt = now + POLL_MS;
    const { rows, setAside, leftBehind } = await claimDeliveries(room);
    for (const row of rows) this.#begin(row);
    if (setAside > 0) this.#lookAtBacklogAt = 0;
    const isMore = setAside > 0 || rows.length >= room.total;
    if (isMore || leftBehind > 0) this.#lookAtLanesAt = 0;
    return isMore;
  }

  /** @returns whether there is a backlog */
  async #claimBacklog(): Promise<boolean> {
    const room = this.#places.room();
    const now = performance.now();
    if (room.total <= 0) return true;
    if (now < this.#lookAtBacklogAt) return false;
    const { rows, next, isEmpty } = await claimBacklog(room, this.#backlog);
    this.#backlog = next;
    for (const row of rows) this.#begin(row);
    // While the backlog is empty, it is checked now and then for rows set aside by other workers.
    if (isEmpty) this.#lookAtBacklogAt = now + POLL_MS;
    return !isEmpty;
  }

  #begin(delivery: ClaimedDelivery): void {
    const earlier = this.#underWay.get(delivery.id);
    if (earlier?.kind === delivery.kind && earlier.tries === delivery.tries) {
      // Its lease expired while the database was down, and we claimed it again: the attempt under way is recorded under the new claim.
      earlier.claimId = delivery.claimId;
      return;
    }
    this.#places.wait(delivery);
    this.#underWay.set(delivery.id, delivery);
    if (this.#places.maySend(delivery)) this.#send(delivery);
    else this.#waiting.add(delivery);
  }

  #send(delivery: ClaimedDelivery): void {
    this.#places.endWaiting(delivery);
    sendDelivery(delivery).then(
      (step) => {
        const attempt = step.step === "attempted" ? step.attempt : null;
        const isSent = attempt?.url != null && attempt.outcome !== "blocked";
        this.#places.endSending(delivery, isSent ? standingShown(attempt.answer !== null, attempt.totalMs) : null);
        this.#sendWaiting(delivery.host);
        this.#done.push({ delivery, step });
        this.#record();
        if (attempt) tellAttempt(delivery, attempt);
      },
      (error: unknown) => {
        log().error({ err: error, deliveryId: delivery.id }, "a delivery failed by a mistake of ours; its claim runs out");
        this.#places.endSending(delivery, null);
        this.#end([{ delivery }]);
      },
    );
  }

  #sendWaiting(host: string | null): void {
    const maySend = (delivery: ClaimedDelivery) => this.#places.maySend(delivery);
    this.#waiting.takeSendable(host, maySend, (delivery) => this.#send(delivery));
  }

  /**
   * Returns it to the queue. It is claimed once its target has shown again that it answers quickly: no request to it has ended
   * for a second.
   */
  #giveBack(delivery: ClaimedDelivery): void {
    this.#places.endWaiting(delivery);
    this.#places.endSending(delivery, "unknown");
    this.#done.push({ delivery, step: { step: "postponed", seconds: 0 } });
    this.#record();
  }

  #record(): void {
    this.#recording ??= this.#recordAll().finally(() => {
      this.#recording = undefined;
      if (this.#done.length > 0) this.#record();
    });
  }

  async #recordAll(): Promise<void> {
    while (this.#done.length > 0) {
      const batch = this.#done.splice(0, RECORD_BATCH_MAX);
      await this.#recordBatch(batch);
      this.#end(batch);
      if (batch.some(isDueAgain)) this.announce();
    }
  }

  async #recordBatch(batch: Done[]): Promise<void> {
    for (let passing = 0; ; ) {
      try {
        await recordOutcomes(batch);
        return;
      } catch (error) {
        // Results are kept and recorded once the database is back, unless a lease expired by then and another worker was faster.
        if (isDatabaseDown(error) || (isPassing(error) && ++passing <= RECORD_RETRIES)) {
          await delay(RECORD_RETRY_MS);
          continue;
        }
        const [first] = batch;
        if (batch.length === 1) {
          log().error({ err: error, deliveryId: first?.delivery.id }, "an attempt cannot be recorded; its claim runs out");
          return;
        }
        // One delivery that cannot be recorded must not block the others.
        const half = Math.ceil(batch.length / 2);
        await this.#recordBatch(batch.slice(0, half));
        await this.#recordBatch(batch.slice(half));
        return;
      }
    }
  }

  #end(ended: readonly { delivery: ClaimedDelivery }[]): void {
    for (const { delivery } of ended) {
      if (this.#underWay.get(delivery.id) === delivery) this.#underWay.delete(delivery.id);
      this.#places.leave();
    }
    this.#sendWaiting(null);
    if (this.#isRoomWanted) {
      this.#isRoomFree = true;
      this.#wakeUp();
    }
    if (this.#underWay.size === 0) this.#drained();
  }

  #renew(): void {
    if (this.#underWay.size === 0) return;
    const claimIds = new Set([...this.#underWay.values()].map(({ claimId }) => claimId));
    renewDeliveries([...this.#underWay.keys()], [...claimIds]).catch((error: unknown) =>
      log().warn({ err: error }, "cannot renew the claims of deliveries"),
    );
  }
}

/** Due immediately: nobody else announces it. */
const isDueAgain = ({ step }: Done): boolean =>
  step.step === "attempted" ? step.decision.again?.seconds === 0 : step.step === "postponed" && step.seconds === 0;
