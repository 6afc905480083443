import { ServiceError } from "../errors.ts";

export const tooManyWaiting = (): ServiceError =>
  new ServiceError("unavailable", "Too many requests at the same time. Combine them, or wait for the responses.", {
    retryAfterSeconds: 2,
  });

const queues = new Map<string, { tail: Promise<unknown>; length: number }>();

/** A lock of the database would hold a connection, so calls wait here. `waitingMax` includes the running call. */
export async function oneAtATime<T>(key: string, work: () => Promise<T>, waitingMax = Number.POSITIVE_INFINITY): Promise<T> {
  const queue = queues.get(key) ?? { tail: Promise.resolve(), length: 0 };
  if (queue.length >= waitingMax) throw tooManyWaiting();
  queues.set(key, queue);
  queue.length++;
  const done = queue.tail.then(work);
  queue.tail = done.catch(() => undefined);
  try {
    return await done;
  } finally {
    queue.length--;
    if (queue.length === 0) queues.delete(key);
  }
}
