import type { Answer } from "./incoming-request.ts";

/** What was answered last, and `Webhook-Timestamp` of the attempts that were here. Plain JSON. */
export type StoredAnswer = Answer & { timestamps: string[] };

/**
 * Remembers the answers of deliveries that were taken. One of your own (Redis, a table) makes several processes, or one that is started
 * anew, agree on what has been here; keep entries for three days, as long as the service tries. What is in progress is known to its
 * process alone.
 */
export interface DeliveryStore {
  get(key: string): StoredAnswer | undefined | Promise<StoredAnswer | undefined>;
  set(key: string, answer: StoredAnswer): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}

/** In memory: the newest, bounded in number and in size. */
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
