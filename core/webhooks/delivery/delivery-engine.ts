import { log } from "../../log.ts";
import { type LeasedEvents, leaseEvents, type Part, parts, renewEvents } from "../fan-out/lease-events.ts";
import { LEASE_SECONDS, renewDeliveries } from "./claim-deliveries.ts";
import { Cycle } from "./cycle.ts";
import { type ClaimedDelivery, type Done, type EventLease, isPosted } from "./delivery.ts";
import { LEAST_MS, POLL_MS, QueueClaims } from "./queue-claims.ts";
import { isDueAgain, Recorder, secondsUntilNext } from "./recorder.ts";
import { publishAttempt, sendDelivery } from "./send-delivery.ts";
import { DeliverySlots, type Limits, ratingShown, SLOW_MS } from "./slots.ts";
import { WaitingDeliveries } from "./waiting-deliveries.ts";

const RENEW_MS = (LEASE_SECONDS / 4) * 1_000;
const LEASE_PAUSE_MS = 20;
const TICK_MS = 500;
/** No more events are leased while this many results wait to be recorded. */
const UNRECORDED_MAX = 2_000;

/** A delivery holds or awaits a slot until its result is recorded, which bounds what one process holds (decision 092). */
export class DeliveryEngine {
  readonly #slots: DeliverySlots;
  readonly #underWay = new Map<string, ClaimedDelivery>();
  readonly #held = new Set<ClaimedDelivery>();
  readonly #sentAt = new Map<ClaimedDelivery, number>();
  readonly #leases = new Map<string, EventLease>();
  readonly #waiting = new WaitingDeliveries();
  readonly #recorder = new Recorder((batch, ended) => this.#recorded(batch, ended));
  readonly #events = new Cycle(
    "lease events",
    () => this.#leasePauseMs,
    () => this.#leaseEvents(),
  );
  readonly #queue: QueueClaims;
  #timers: NodeJS.Timeout[] = [];
  #lookForBegunAt = 0;
  #leasePauseMs = LEAST_MS;
  #latestPart: Part["part"] = "begun";
  #isEventRoomWanted = false;
  #drained: () => void = () => undefined;

  constructor(limits?: Limits) {
    this.#slots = new DeliverySlots(limits);
    this.#queue = new QueueClaims(this.#slots, (delivery) => this.#begin(delivery));
  }

  start(): void {
    this.#events.start();
    this.#queue.start();
    this.#timers = [setInterval(() => this.#renew(), RENEW_MS), setInterval(() => this.#tick(), TICK_MS)];
  }

  announce(): void {
    this.#queue.announce();
  }

  announceEvents(): void {
    this.#events.within(0);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#events.stop(), this.#queue.stop()]);
    while (this.#isBusy()) await new Promise<void>((drained) => (this.#drained = drained));
    for (const timer of this.#timers) clearInterval(timer);
  }

  #isBusy(): boolean {
    return this.#underWay.size + this.#held.size + this.#leases.size > 0;
  }

  async #leaseEvents(): Promise<number> {
    let next = POLL_MS;
    const begin = performance.now();
    this.#isEventRoomWanted = false;
    // The order alternates, so that neither part takes all the room of the recorder.
    for (const part of this.#latestPart === "fresh" ? parts.toReversed() : parts) {
      const isBegun = part.part === "begun";
      if (isBegun && performance.now() < this.#lookForBegunAt) continue;
      // Deliveries of a begun event go through the queue and need no slots.
      const limit = isBegun ? part.limit : Math.min(part.limit, this.#slots.freeForEvents());
      if (limit === 0 || this.#recorder.size > UNRECORDED_MAX) {
        this.#isEventRoomWanted = true;
        continue;
      }
      if (isBegun) this.#lookForBegunAt = performance.now() + POLL_MS;
      const leased = await leaseEvents({ ...part, limit });
      this.#take(leased, isBegun);
      if (leased.leases.length > 0) this.#latestPart = part.part;
      if (!leased.isFull) continue;
      next = 0;
      if (isBegun) this.#lookForBegunAt = 0;
    }
    // The pause is as long as the lease took, which halves the number of leases on a busy machine.
    this.#leasePauseMs = next === 0 ? LEAST_MS : Math.max(LEAST_MS, Math.min(performance.now() - begin, LEASE_PAUSE_MS));
    return next;
  }

  #take({ leases, deliveries, over }: LeasedEvents, isBegun: boolean): void {
    const taken = new Set<EventLease>();
    for (const lease of leases) {
      const earlier = this.#leases.get(lease.id);
      // The lease ended while the database was down. Attempts in progress are recorded under the new lease.
      if (earlier) earlier.claimId = lease.claimId;
      else taken.add(lease);
    }
    for (const lease of taken) {
      this.#leases.set(lease.id, lease);
      if (lease.open.size === 0) this.#recorder.end(lease);
    }
    for (const delivery of deliveries) {
      const { lease } = delivery;
      if (!lease || !taken.has(lease)) continue;
      const overLimit = over.get(delivery);
      // An attempt that began under a lost lease is still in progress.
      if (this.#underWay.has(delivery.id)) this.#begin(delivery);
      else if (overLimit) this.#recorder.add(delivery, { step: "rate_limited", over: overLimit });
      else if (!isBegun && lease.cursor === null && isPosted(delivery) && this.#slots.mayTake(delivery)) this.#begin(delivery);
      else this.#recorder.add(delivery, { step: "postponed", seconds: 0 });
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const earlier = this.#underWay.get(delivery.id);
    if (earlier?.kind === delivery.kind && earlier.tries === delivery.tries) {
      // The claim expired while the database was down. The attempt in progress is recorded under the new claim.
      earlier.claimId = delivery.claimId;
      if (delivery.lease) earlier.lease = delivery.lease;
      return;
    }
    this.#slots.wait(delivery);
    this.#underWay.set(delivery.id, delivery);
    if (this.#slots.maySend(delivery)) this.#send(delivery);
    else this.#waiting.add(delivery);
  }

  #send(delivery: ClaimedDelivery): void {
    this.#slots.endWaiting(delivery);
    this.#held.add(delivery);
    if (delivery.lease) this.#sentAt.set(delivery, performance.now());
    sendDelivery(delivery).then(
      (step) => {
        const attempt = step.step === "attempted" ? step.attempt : null;
        const isSent = attempt?.url != null && attempt.outcome !== "blocked";
        this.#sentAt.delete(delivery);
        if (isSent) this.#slots.endSending(delivery, ratingShown(attempt.answer !== null, attempt.totalMs), attempt.totalMs);
        else this.#slots.endSending(delivery, null);
        this.#sendWaiting(delivery.host);
        this.#recorder.add(delivery, step);
        if (attempt) publishAttempt(delivery, attempt);
      },
      (error: unknown) => {
        log().error(
          { err: error, deliveryId: delivery.id },
          "a delivery failed because of a bug in this service; it will be tried again",
        );
        this.#sentAt.delete(delivery);
        this.#slots.endSending(delivery, null);
        if (delivery.lease) this.#recorder.add(delivery, { step: "postponed", seconds: LEASE_SECONDS });
        else this.#recorded([{ delivery, step: { step: "dropped" } }], []);
      },
    );
  }

  #sendWaiting(host: string | null): void {
    const maySend = (delivery: ClaimedDelivery) => this.#slots.maySend(delivery);
    this.#waiting.takeSendable(host, maySend, (delivery) => this.#send(delivery));
  }

  #tick(): void {
    this.#waiting.takeStale((delivery) => this.#giveBack(delivery));
    const before = performance.now() - SLOW_MS;
    for (const [delivery, sentAt] of this.#sentAt) {
      if (sentAt > before) break;
      this.#sentAt.delete(delivery);
      this.#slots.show(delivery.host, "bad");
      this.#recorder.add(delivery, { step: "sending" });
    }
  }

  /** The delivery's target counts as unknown afterwards, and gets few slots. */
  #giveBack(delivery: ClaimedDelivery): void {
    this.#slots.endWaiting(delivery);
    this.#held.add(delivery);
    this.#slots.endSending(delivery, "unknown");
    this.#recorder.add(delivery, { step: "postponed", seconds: 0 });
  }

  #recorded(batch: readonly Done[], ended: readonly EventLease[]): void {
    for (const { id } of ended) this.#leases.delete(id);
    for (const { delivery, step } of batch) if (step.step !== "sending") this.#end(delivery);
    if (batch.some(isDueAgain)) this.announce();
    const waits = batch.flatMap((done) => secondsUntilNext(done) ?? []);
    if (waits.length > 0) this.#queue.announceIn(Math.min(...waits) * 1_000);
    if (ended.some(({ cursor }) => cursor !== null)) {
      this.#lookForBegunAt = 0;
      this.announceEvents();
    }
    this.#sendWaiting(null);
    this.#queue.announceRoom();
    if (this.#isEventRoomWanted) this.#events.within(0);
    if (!this.#isBusy()) this.#drained();
  }

  #end(delivery: ClaimedDelivery): void {
    if (this.#underWay.get(delivery.id) === delivery) this.#underWay.delete(delivery.id);
    if (this.#held.delete(delivery)) this.#slots.leave();
  }

  #renew(): void {
    const queued = [...this.#underWay.values()].filter(({ lease }) => lease === null);
    const leases = [...this.#leases.values()].filter(({ isGivenUp }) => !isGivenUp);
    for (const [claims, renew] of [
      [queued, renewDeliveries],
      [leases, renewEvents],
    ] as const) {
      if (claims.length === 0) continue;
      const claimIds = new Set(claims.map(({ claimId }) => claimId));
      renew(
        claims.map(({ id }) => id),
        [...claimIds],
      ).catch((error: unknown) => log().warn({ err: error }, "cannot renew claims"));
    }
  }
}
