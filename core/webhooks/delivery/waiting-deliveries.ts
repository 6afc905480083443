import { lanes } from "../vocabulary.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/** The data that was read with a claim, above all permissions, must not be older than this. */
const WAIT_MAX_MS = 1_000;

type Waiting = { delivery: ClaimedDelivery; since: number };

/** In each list, deliveries that a user waits for come first. */
export class WaitingDeliveries {
  readonly #byHost = new Map<string, Waiting[]>();

  add(delivery: ClaimedDelivery): void {
    const others = this.#byHost.get(delivery.host) ?? [];
    this.#byHost.set(delivery.host, others);
    const waiting = { delivery, since: performance.now() };
    if (delivery.lane === lanes.waitedFor) others.unshift(waiting);
    else others.push(waiting);
  }

  /** `maySend` must count the deliveries for which it returned true. */
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
