import { ApiError } from "./api-error.ts";
import { delayBeforeRetry, isWorthRetrying, sleep } from "./retry.ts";

/**
 * One connection after the other, for what goes on where it was cut off: `connect` begins where the last one got to. It ends when
 * `isOver` says so after a connection has ended, and otherwise never.
 * @throws ApiError that would be the same again: a token that has ended, what is not there; what `signal` was aborted with
 */
export async function* reconnecting<T>(
  connect: () => AsyncIterable<T>,
  signal?: AbortSignal,
  isOver: () => Promise<boolean> = async () => false,
): AsyncGenerator<T> {
  let failed = 0;
  for (;;) {
    let retryAfterSeconds: number | undefined;
    try {
      for await (const one of connect()) {
        failed = 0;
        yield one;
      }
      if (await isOver()) return;
    } catch (error) {
      if (!isLost(error)) throw error;
      retryAfterSeconds = error.retryAfterSeconds;
    }
    failed += 1;
    await sleep(delayBeforeRetry(failed, retryAfterSeconds), signal);
  }
}

/** Worth another connection: the service restarts, a proxy lost patience, the network is away. */
function isLost(error: unknown): error is ApiError {
  return isWorthRetrying(error) || (error instanceof ApiError && error.status >= 500);
}
