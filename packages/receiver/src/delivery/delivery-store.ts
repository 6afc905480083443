import type { Answer } from "./incoming-request.ts";

/** The latest response to a delivery, and the `Webhook-Timestamp` of the last 20 attempts. Plain JSON. */
export type StoredAnswer = Answer & { timestamps: string[] };

/** Remembers the responses to accepted deliveries. Keep entries for three days, because the service may retry for that long. */
export interface DeliveryStore {
  get(key: string): StoredAnswer | undefined | Promise<StoredAnswer | undefined>;
  set(key: string, answer: StoredAnswer): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}

/** Creates a store that keeps the newest responses in memory: at most `maxEntries` (10,000) with at most `maxBytes` (16 MiB). */
export function memoryStore({ maxEntries = 10_000, maxBytes = 16 * 1024 * 1024 } = {}): DeliveryStore {
  const answers = new Map<string, StoredAnswer>();
  let bytes = 0;
  const weigh = (key: string, answer: StoredAnswer) => key.length + answer.body.length;
  const remove = (key: string) => {
    const answer = answers.get(key);
    if (answer) bytes -= weigh(key, answer);
    answers.delete(key);
  };
  return {
    get: (key) => answers.get(key),
    delete: remove,
    set(key, answer) {
      remove(key);
      answers.set(key, answer);
      bytes += weigh(key, answer);
      for (const oldest of answers.keys()) {
        if (answers.size <= maxEntries && bytes <= maxBytes) break;
        remove(oldest);
      }
    },
  };
}

/** A refused delivery has no event, because its content is not trusted. */
export type RecentDelivery = {
  at: Date;
  handler: string;
  id: string | undefined;
  event: string | undefined;
  repo: string | undefined;
  status: number;
  durationMs: number;
  isTest: boolean;
  isRepeated: boolean;
};

const KEPT_MAX = 50;

export class RecentDeliveries {
  readonly #kept: RecentDelivery[] = [];
  add(delivery: RecentDelivery): void {
    this.#kept.unshift(delivery);
    this.#kept.length = Math.min(this.#kept.length, KEPT_MAX);
  }
  list(): readonly RecentDelivery[] {
    return this.#kept;
  }
}
