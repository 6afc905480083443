import { ServiceError } from "../errors.ts";

export const tooManyWaiting = (): ServiceError =>
  new ServiceError("unavailable", "Too many requests at the same time. Combine them, or wait for the responses.", {
    retryAfterSeconds: 2,
  });

const lines = new Map<string, { tail: Promise<unknown>; length: number }>();

/**
 * Runs the work under one key one after another in this process. Between processes, the database or git does this. But each caller waiting
 * there would hold a connection, or build a commit in vain.
 * @param waitingMax how many may wait under the key, the running one included
 * @throws ServiceError `unavailable` if more are waiting
 */
export async function oneAtATime<T>(key: string, work: () => Promise<T>, waitingMax = Number.POSITIVE_INFINITY): Promise<T> {
  const line = lines.get(key) ?? { tail: Promise.resolve(), length: 0 };
  if (line.length >= waitingMax) throw tooManyWaiting();
  lines.set(key, line);
  line.length++;
  const done = line.tail.then(work);
  line.tail = done.catch(() => undefined);
  try {
    return await done;
  } finally {
    line.length--;
    if (line.length === 0) lines.delete(key);
  }
}
