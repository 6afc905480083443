import type { HostRating, Room } from "./claim-deliveries.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/** One worker's limits (S128). A quarter of the slots is for targets that answer quickly. An owner gets at most half. */
export type Limits = {
  /** Each delivery holds up to 64 KiB of a response in memory. */
  total: number;
  /** Some deliveries are claimed in advance, because a claim takes longer than many responses. */
  waiting: number;
  perWebhook: number;
  perHost: Record<HostRating, number>;
};

const standardLimits: Limits = { total: 256, waiting: 128, perWebhook: 32, perHost: { good: 64, unknown: 8, bad: 4 } };

/** A target whose responses take longer gets few slots. */
export const SLOW_MS = 2_000;
/** If a target has no room, its first attempts go through the queue for this long, so that none overtakes the queue. */
const CROWDED_MS = 250;
/** A first attempt may wait in the process for about this long. */
const AHEAD_MS = 250;
/** Deliveries that wait hold no responses yet, so more of them may wait. */
const AHEAD_FACTOR = 4;
const LATEST = 0.1;
const HOSTS_MAX = 512;

type Held = { sending: number; waiting: number; crowdedUntil: number };
type Host = Held & { rating: HostRating; averageMs: number };
const nothing: Held = { sending: 0, waiting: 0, crowdedUntil: 0 };
const newHost = (): Host => ({ rating: "unknown", averageMs: 1, ...nothing });

export class DeliverySlots {
  readonly #limits: Limits;
  readonly #webhooks = new Map<string, Held>();
  readonly #owners = new Map<string, Held>();
  readonly #hosts = new Map<string, Host>();
  readonly #sending: Record<HostRating, number> = { good: 0, unknown: 0, bad: 0 };
  #taken = 0;
  #waiting = 0;

  constructor(limits: Limits = standardLimits) {
    this.#limits = limits;
  }

  room(): Room {
    const { total, waiting, perWebhook, perHost } = this.#limits;
    const free = Math.max(0, total - this.#taken);
    const freeToWait = Math.max(0, waiting - this.#waiting);
    const { good, unknown, bad } = this.#free();
    return {
      total: free + freeToWait,
      again: Math.max(1, Math.floor(free / 8)),
      perWebhook,
      perHost: perHost.unknown,
      webhooks: [...this.#webhooks].map(([id, held]) => ({
        id,
        free: Math.max(0, 2 * perWebhook - held.sending - held.waiting),
      })),
      owners: [...this.#owners].map(([id, held]) => ({ id, held: held.sending + held.waiting })),
      hosts: [...this.#hosts].map(([host, { rating, ...held }]) => ({
        host,
        rating,
        free: Math.max(0, perHost[rating] * (rating === "good" ? 2 : 1) - held.sending - held.waiting),
      })),
      ratings: { good: good + freeToWait, unknown, bad },
    };
  }

  #free(): Record<HostRating, number> {
    const { total } = this.#limits;
    const { good, unknown, bad } = this.#sending;
    const forUnproven = Math.max(0, Math.floor((total * 3) / 4) - unknown - bad);
    return {
      good: Math.max(0, total - good - unknown - bad),
      unknown: forUnproven,
      bad: Math.max(0, Math.min(forUnproven, Math.floor(total / 2) - bad)),
    };
  }

  /** An eighth of the slots is for the queue. */
  freeForEvents(): number {
    const { total, waiting } = this.#limits;
    return Math.max(0, Math.min(total - Math.floor(total / 8) - this.#taken, AHEAD_FACTOR * waiting - this.#waiting));
  }

  /** A first attempt may bypass the queue if its target is not bad, and has room now or soon. */
  mayTake(delivery: ClaimedDelivery): boolean {
    const { waiting, perWebhook, perHost } = this.#limits;
    const host = this.#hosts.get(delivery.host) ?? newHost();
    const webhook = this.#webhooks.get(delivery.webhookId) ?? { ...nothing };
    const now = performance.now();
    if (host.rating === "bad" || now < Math.max(host.crowdedUntil, webhook.crowdedUntil)) return false;
    const isGood = host.rating === "good";
    const ofOwner = this.#owners.get(delivery.ownerId) ?? nothing;
    if ((isGood || ofOwner.sending < this.#free().unknown) && this.maySend(delivery)) return true;
    const ahead = isGood ? Math.min(AHEAD_MS / host.averageMs, AHEAD_FACTOR * waiting) : 0;
    if (webhook.waiting >= perWebhook * ahead) webhook.crowdedUntil = now + CROWDED_MS;
    else if (host.waiting >= perHost.good * ahead) host.crowdedUntil = now + CROWDED_MS;
    else return ofOwner.waiting < AHEAD_FACTOR * waiting - this.#waiting;
    return false;
  }

  wait({ webhookId, ownerId, host }: ClaimedDelivery): void {
    this.#waiting++;
    for (const [holders, id] of this.#holders(webhookId, ownerId)) {
      const held = holders.get(id) ?? { ...nothing };
      holders.set(id, held);
      held.waiting++;
    }
    const found = this.#hosts.get(host) ?? newHost();
    // The map is in order of use.
    this.#hosts.delete(host);
    this.#hosts.set(host, found);
    found.waiting++;
    this.#forgetHosts();
  }

  maySend({ webhookId, ownerId, host }: ClaimedDelivery): boolean {
    const { total, perWebhook, perHost } = this.#limits;
    const { rating, sending } = this.#hosts.get(host) ?? newHost();
    const ofWebhook = this.#webhooks.get(webhookId)?.sending ?? 0;
    const ofOwner = this.#owners.get(ownerId)?.sending ?? 0;
    return ofOwner < total - this.#taken && ofWebhook < perWebhook && sending < perHost[rating];
  }

  endWaiting({ webhookId, ownerId, host }: ClaimedDelivery): void {
    this.#waiting--;
    this.#taken++;
    for (const [holders, id] of this.#holders(webhookId, ownerId)) {
      const held = holders.get(id);
      if (!held) continue;
      held.waiting--;
      held.sending++;
    }
    const found = this.#hosts.get(host);
    if (!found) return;
    found.waiting--;
    found.sending++;
    this.#sending[found.rating]++;
  }

  /** The target's slot is free after this, but the worker's slot is not yet. */
  endSending({ webhookId, ownerId, host }: ClaimedDelivery, shown: HostRating | null, milliseconds?: number): void {
    for (const [holders, id] of this.#holders(webhookId, ownerId)) {
      const held = holders.get(id);
      if (!held) continue;
      held.sending--;
      if (held.sending + held.waiting === 0) holders.delete(id);
    }
    const found = this.#hosts.get(host);
    if (!found) return;
    this.#sending[found.rating]--;
    found.sending--;
    if (milliseconds !== undefined) found.averageMs = Math.max(1, found.averageMs * (1 - LATEST) + milliseconds * LATEST);
    if (shown) this.show(host, shown);
  }

  show(host: string, shown: HostRating): void {
    const found = this.#hosts.get(host);
    if (!found || shown === found.rating) return;
    this.#sending[found.rating] -= found.sending;
    found.rating = shown;
    this.#sending[shown] += found.sending;
  }

  leave(): void {
    this.#taken--;
  }

  #holders(webhookId: string, ownerId: string): [Map<string, Held>, string][] {
    return [
      [this.#webhooks, webhookId],
      [this.#owners, ownerId],
    ];
  }

  #forgetHosts(): void {
    if (this.#hosts.size <= HOSTS_MAX) return;
    for (const [host, { sending, waiting }] of this.#hosts) {
      if (sending + waiting > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}

/** The rating shows whether the host occupies slots for long, not whether it accepted the request. */
export function ratingShown(answered: boolean, totalMs: number): HostRating {
  return answered && totalMs <= SLOW_MS ? "good" : "bad";
}
