import type { HostStanding, Room } from "./claim-deliveries.ts";
import type { ClaimedDelivery } from "./delivery.ts";

/**
 * How much of one worker everybody may have at once (S128). A target that has shown that it answers gets the most; one that is not known
 * yet is tried out with little; and those that fail or are slow share half of the places, however many they are. So a quarter of the
 * places is always free for targets that work.
 */
export type Limits = {
  /** Deliveries under way, sent or waiting for their record; each holds up to 64 KiB of an answer. */
  total: number;
  perWebhook: number;
  perHost: Record<HostStanding, number>;
};

export const standardLimits: Limits = { total: 256, perWebhook: 32, perHost: { good: 64, unknown: 8, bad: 4 } };

/** An answer that took longer than this holds its place for too long to be given many. */
const SLOW_MS = 2_000;
/** Hosts that are remembered; the one that was used the longest ago is forgotten. */
const HOSTS_MAX = 512;

type Host = { standing: HostStanding; sending: number };

/** The places of one worker: who has how many, and how much room is left. */
export class Places {
  readonly #limits: Limits;
  readonly #webhooks = new Map<string, number>();
  readonly #hosts = new Map<string, Host>();
  readonly #sending: Record<HostStanding, number> = { good: 0, unknown: 0, bad: 0 };
  #taken = 0;

  constructor(limits: Limits = standardLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#limits.total - this.#taken;
  }

  room(): Room {
    const { total, perWebhook, perHost } = this.#limits;
    const { good, unknown, bad } = this.#sending;
    const forUnproven = Math.floor((total * 3) / 4) - unknown - bad;
    return {
      total: this.free,
      again: Math.max(1, Math.floor(this.free / 8)),
      perWebhook,
      perHost: perHost.unknown,
      webhooks: [...this.#webhooks].map(([id, sending]) => ({ id, free: Math.max(0, perWebhook - sending) })),
      hosts: [...this.#hosts].map(([host, { standing, sending }]) => ({
        host,
        standing,
        free: Math.max(0, perHost[standing] - sending),
      })),
      standings: {
        good: Math.max(0, total - good - unknown - bad),
        unknown: Math.max(0, forUnproven),
        bad: Math.max(0, Math.min(forUnproven, Math.floor(total / 2) - bad)),
      },
    };
  }

  take({ webhookId, host }: ClaimedDelivery): void {
    this.#taken++;
    this.#webhooks.set(webhookId, (this.#webhooks.get(webhookId) ?? 0) + 1);
    const found = this.#hosts.get(host) ?? { standing: "unknown", sending: 0 };
    // Put last: the map's order is that of use.
    this.#hosts.delete(host);
    this.#hosts.set(host, found);
    found.sending++;
    this.#sending[found.standing]++;
    this.#forgetHosts();
  }

  /** Its request is over: the target has its place back, the worker has not. */
  endSending({ webhookId, host }: ClaimedDelivery, shown: HostStanding | null): void {
    const sending = (this.#webhooks.get(webhookId) ?? 1) - 1;
    if (sending > 0) this.#webhooks.set(webhookId, sending);
    else this.#webhooks.delete(webhookId);
    const found = this.#hosts.get(host);
    if (!found) return;
    this.#sending[found.standing]--;
    found.sending--;
    if (!shown || shown === found.standing) return;
    this.#sending[found.standing] -= found.sending;
    found.standing = shown;
    this.#sending[shown] += found.sending;
  }

  /** It is recorded. */
  leave(): void {
    this.#taken--;
  }

  #forgetHosts(): void {
    if (this.#hosts.size <= HOSTS_MAX) return;
    for (const [host, { sending }] of this.#hosts) {
      if (sending > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}

/** What an attempt shows of its host: whether it holds a place for long, not whether it liked what it got. */
export function standingShown(answered: boolean, totalMs: number): HostStanding {
  return answered && totalMs <= SLOW_MS ? "good" : "bad";
}
