import { ServiceError } from "../../errors.ts";

/** Requests of one platform that may wait in this process; more than any sender that waits for its answers has. */
const WAITING_MAX = 100;

const lines = new Map<string, { tail: Promise<unknown>; length: number }>();

/**
 * Lets what one platform asks of this process happen one after another. The platform's row is locked while something of it is done
 * (lockPlatform); waiting for it in the database would take a connection for each request, until none is left for anybody else.
 * @throws ServiceError `unavailable` when too many are waiting
 */
export async function inTurn<T>(platformId: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(platformId) ?? { tail: Promise.resolve(), length: 0 };
  if (line.length >= WAITING_MAX) {
    throw new ServiceError(
      "unavailable",
      "Too many requests at the same time. Send more in one request, or wait for the answers.",
      {
        retryAfterSeconds: 2,
      },
    );
  }
  lines.set(platformId, line);
  line.length++;
  const done = line.tail.then(work);
  line.tail = done.catch(() => undefined);
  try {
    return await done;
  } finally {
    line.length--;
    if (line.length === 0) lines.delete(platformId);
  }
}
