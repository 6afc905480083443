import { ApiError } from "./api-error.ts";

/**
 * Reads a stream across connections, with a growing random delay before each new one, as `webhooks.live` and `jobs.logs` do.
 * @param connect Opens a connection that continues where the previous one ended, such as with {@link Transport.stream} and `lastEventId`.
 * @param signal Ends the reading.
 * @param isOver Called after each connection that ended without an error. Returns whether the stream has ended. Default: never.
 * @throws {@link ApiError} if another connection would fail in the same way: the token is no longer valid, there is no such stream, or the
 * service asks to wait for more than a minute. After an abort, the signal's reason is thrown.
 * @group Client
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

/** Whether another connection may succeed, after a restart of the service, a failure of a proxy or of the network. */
function isLost(error: unknown): error is ApiError {
  return isWorthRetrying(error) || (error instanceof ApiError && error.status >= 500 && !isWaitLong(error));
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 20_000;
/** The SDK does not wait longer, because a program that waits for an hour looks dead. The error contains the time to wait. */
const RETRY_AFTER_MAX_SECONDS = 60;

const RETRIED_STATUSES = new Set([429, 502, 503, 504]);

const isWaitLong = ({ retryAfterSeconds = 0 }: ApiError): boolean => retryAfterSeconds > RETRY_AFTER_MAX_SECONDS;

/** Whether the same request may succeed a little later. */
export function isWorthRetrying(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || isWaitLong(error)) return false;
  return RETRIED_STATUSES.has(error.status) || error.code === "network" || error.code === "timeout";
}

/** Full jitter, so that clients that failed at the same time do not return at the same time. `attempt` counts failed attempts from 1. */
export function delayBeforeRetry(attempt: number, retryAfterSeconds = 0, random = Math.random): number {
  const limit = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return retryAfterSeconds * 1000 + random() * limit;
}

/** Rejects with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
