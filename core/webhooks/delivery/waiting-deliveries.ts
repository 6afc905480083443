import { lanes } from "../vocabulary.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/** Data read with the claim, above all the permission to read, is at most this old when a delivery is sent. */
const WAIT_MAX_MS = 1_000;

type Waiting = { delivery: ClaimedDelivery; since: number };

/** Deliveries that a worker has claimed and may not send yet, by host; those that a person waits for come first. */
export class WaitingDeliveries {
  readonly #byHost = new Map<string, Waiting[]>();

  add(delivery: ClaimedDelivery): void {
    const others = this.#byHost.get(delivery.host) ?? [];
    this.#byHost.set(delivery.host, others);
    const waiting = { delivery, since: performance.now() };
    if (delivery.lane === lanes.waitedFor) others.unshift(waiting);
    else others.push(waiting);
  }

  /**
   * Removes and sends the deliveries that may be sent now. `maySend` is called for one after another, and counts the previous ones. Stale
   * deliveries stay until they are released, which may take a while if the database is slow.
   */
  takeSendable(
    host: string | null,
    maySend: (delivery: ClaimedDelivery) => boolean,
    send: (delivery: ClaimedDelivery) => void,
  ): void {
    const before = performance.now() - WAIT_MAX_MS;
    for (const each of host === null ? [...this.#byHost.keys()] : [host]) {
      this.#take(each, ({ delivery, since }) => since >= before && maySend(delivery), send);
    }
  }

  /** Removes the deliveries that have waited too long. */
  takeStale(giveBack: (delivery: ClaimedDelivery) => void): void {
    const before = performance.now() - WAIT_MAX_MS;
    for (const host of [...this.#byHost.keys()]) this.#take(host, ({ since }) => since < before, giveBack);
  }

  #take(host: string, isSelected: (waiting: Waiting) => boolean, use: (delivery: ClaimedDelivery) => void): void {
    const all = this.#byHost.get(host);
    if (!all) return;
    const left: Waiting[] = [];
    for (const waiting of all) {
      if (isSelected(waiting)) use(waiting.delivery);
      else left.push(waiting);
    }
    if (left.length > 0) this.#byHost.set(host, left);
    else this.#byHost.delete(host);
  }
}
