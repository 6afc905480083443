import type { HostStanding, Room } from "./claim-deliveries.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/**
 * The limits for targets on one worker (S128). A target that has been shown to answer gets the most; an unknown one is tried
 * with little; those that fail or are slow share half of the slots, however many they are. So a quarter of the slots is always
 * free for targets that work.
 */
export type Limits = {
  /** Deliveries being sent or waiting to be recorded; each holds up to 64 KiB of a response. */
  total: number;
  /** Claimed beyond that for working targets, to be sent as soon as others to them end: a claim takes longer than many responses. */
  waiting: number;
  perWebhook: number;
  perHost: Record<HostStanding, number>;
};

export const standardLimits: Limits = { total: 256, waiting: 128, perWebhook: 32, perHost: { good: 64, unknown: 8, bad: 4 } };

/** A response slower than this holds its slot too long for the target to get many. */
const SLOW_MS = 2_000;
/** How many hosts are remembered; the least recently used one is forgotten. */
const HOSTS_MAX = 512;

type Host = { standing: HostStanding; sending: number; waiting: number };

/** The slots of one worker: who holds how many, and how much room is left. */
export class Places {
  readonly #limits: Limits;
  readonly #webhooks = new Map<string, { sending: number; waiting: number }>();
  readonly #hosts = new Map<string, Host>();
  readonly #sending: Record<HostStanding, number> = { good: 0, unknown: 0, bad: 0 };
  #taken = 0;
  #waiting = 0;

  constructor(limits: Limits = standardLimits) {
    this.#limits = limits;
  }

  room(): Room {
    const { total, waiting, perWebhook, perHost } = this.#limits;
    const { good, unknown, bad } = this.#sending;
    const free = Math.max(0, total - this.#taken);
    const freeToWait = Math.max(0, waiting - this.#waiting);
    const forUnproven = Math.floor((total * 3) / 4) - unknown - bad;
    return {
      total: free + freeToWait,
      again: Math.max(1, Math.floor(free / 8)),
      perWebhook,
      perHost: perHost.unknown,
      webhooks: [...this.#webhooks].map(([id, held]) => ({
        id,
        free: Math.max(0, 2 * perWebhook - held.sending - held.waiting),
      })),
      hosts: [...this.#hosts].map(([host, { standing, ...held }]) => ({
        host,
        standing,
        free: Math.max(0, perHost[standing] * (standing === "good" ? 2 : 1) - held.sending - held.waiting),
      })),
      standings: {
        good: Math.max(0, total - good - unknown - bad) + freeToWait,
        unknown: Math.max(0, forUnproven),
        bad: Math.max(0, Math.min(forUnproven, Math.floor(total / 2) - bad)),
      },
    };
  }

  /** A delivery was claimed, and waits until it may be sent. */
  wait({ webhookId, host }: ClaimedDelivery): void {
    this.#waiting++;
    const held = this.#webhooks.get(webhookId) ?? { sending: 0, waiting: 0 };
    this.#webhooks.set(webhookId, held);
    held.waiting++;
    const found = this.#hosts.get(host) ?? { standing: "unknown", sending: 0, waiting: 0 };
    // Moved to the end: the map is in order of use.
    this.#hosts.delete(host);
    this.#hosts.set(host, found);
    found.waiting++;
    this.#forgetHosts();
  }

  maySend({ webhookId, host }: ClaimedDelivery): boolean {
    const { total, perWebhook, perHost } = this.#limits;
    const { standing, sending } = this.#hosts.get(host) ?? { standing: "unknown", sending: 0 };
    const ofWebhook = this.#webhooks.get(webhookId)?.sending ?? 0;
    return this.#taken < total && ofWebhook < perWebhook && sending < perHost[standing];
  }

  /** A delivery no longer waits: it is sent, or given back. */
  endWaiting({ webhookId, host }: ClaimedDelivery): void {
    this.#waiting--;
    this.#taken++;
    const held = this.#webhooks.get(webhookId);
    if (held) {
      held.waiting--;
      held.sending++;
    }
    const found = this.#hosts.get(host);
    if (!found) return;
    found.waiting--;
    found.sending++;
    this.#sending[found.standing]++;
  }

  /** Its request is over: the target's slot is free, the worker's is not yet. */
  endSending({ webhookId, host }: ClaimedDelivery, shown: HostStanding | null): void {
    const held = this.#webhooks.get(webhookId);
    if (held) {
      held.sending--;
      if (held.sending + held.waiting === 0) this.#webhooks.delete(webhookId);
    }
    const found = this.#hosts.get(host);
    if (!found) return;
    this.#sending[found.standing]--;
    found.sending--;
    if (!shown || shown === found.standing) return;
    this.#sending[found.standing] -= found.sending;
    found.standing = shown;
    this.#sending[shown] += found.sending;
  }

  /** A delivery was recorded. */
  leave(): void {
    this.#taken--;
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

/** What an attempt shows about its host: whether it holds a slot for long, not whether it accepted the request. */
export function standingShown(answered: boolean, totalMs: number): HostStanding {
  return answered && totalMs <= SLOW_MS ? "good" : "bad";
}
